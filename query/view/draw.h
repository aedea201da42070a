#pragma once

// The model as a screen. Pure, except for the locale's character widths.

#include <optional>
#include <string>

#include "query/view/grid.h"
#include "query/view/layout_of.h"
#include "query/view/model.h"

namespace memoir::query::view {

// The tab at a column of its line; nullopt between them.
std::optional<std::size_t> tab_at(const Model& model, std::size_t column);

// `dims`: a page that waits for its answer is dimmed.
CellGrid draw(const Model& model, bool dims = true);

// Parts of it, in files of their own.
void draw_bar(CellGrid& grid, const Model& model);
// Columns below those of the bar, with a scale at the left.
void draw_chart_lines(CellGrid& grid, const Setup& setup, const std::vector<BarColumn>& columns, std::size_t first,
                      std::size_t lines);
// The menu, the help or the values of a row, over the page.
void draw_overlays(CellGrid& grid, const Model& model, const Layout& layout);

}  // namespace memoir::query::view
