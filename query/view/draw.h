#pragma once

// Draws the model as a screen. Pure, except for the locale's character widths.

#include <optional>
#include <span>
#include <string>

#include "query/view/grid.h"
#include "query/view/layout_of.h"
#include "query/view/model.h"

namespace memoir::query::view {

// Returns the tab at a column of the tabs' line; nullopt between tabs.
std::optional<std::size_t> tab_at(const Model& model, std::size_t column);

// Draws the whole screen. `dims`: dims a page that waits for its answer.
CellGrid draw(const Model& model, bool dims = true);

// Parts of draw(), each in its own file.
void draw_bar(CellGrid& grid, const Model& model);
struct ChartPlace {
  std::size_t line = 0;
  std::size_t lines = 0;
  std::size_t column = 0;  // column of the scale
};
// Draws a chart of columns with a scale at the left.
void draw_chart_lines(CellGrid& grid, const Setup& setup, std::span<const BarColumn> columns, const ChartPlace& at);
// Draws the process of the selected row right of the table.
void draw_side(CellGrid& grid, const Model& model, const Layout& layout);
// Draws the menu, the help or the values of a row over the page.
void draw_overlays(CellGrid& grid, const Model& model, const Layout& layout);

}  // namespace memoir::query::view
