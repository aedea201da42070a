#pragma once

// Makes the lines of a page from an answer. Pure.

#include <cstddef>
#include <cstdint>

#include "query/render/render.h"
#include "query/view/keys.h"
#include "query/view/model.h"

namespace memoir::query::view {

Presentation presentation_of(const Model& model, std::size_t width);

// Fills head and lines from the answer of the page, for the width of the screen. The left column stays free for
// symbols.
void make_lines(Model& model);

// Returns whether the rows of the page can be selected.
bool has_rows(const Model& model);

// All values of the selected row, each with the heading of its column.
std::vector<std::string> whole_row(const Model& model, std::size_t width);

// Number of items that can be selected or scrolled to: rows, or lines if the page has no rows.
std::size_t item_count(const Model& model);

// Lines of the chart above the page of a process; 0 without a chart.
std::size_t process_chart_lines(const Model& model);

// Lines of the screen for the page, without its header and chart.
std::size_t page_height(const Model& model);

// Keeps the selection on its row after a new answer. If the row is gone, the position stays and a message is shown.
void select_row(Model& model);

// Selects a row, or scrolls to a line.
void select(Model& model, std::size_t item);

// Moves the selection down, or up if negative, as far as there are items.
void move_rows(Model& model, std::int64_t rows);

// Moves the selection if the action is a move among the rows. Returns whether it was.
bool move_in_rows(Model& model, Action action);

// Moves the page so that the selected row is on the screen.
void keep_visible(Model& model);

}  // namespace memoir::query::view
