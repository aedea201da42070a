#pragma once

// An answer as the lines of a page. Pure.

#include <cstddef>
#include <cstdint>

#include "query/view/keys.h"
#include "query/view/model.h"

namespace memoir::query::view {

// Fills head and lines from the answer of the page, for the width of the screen. The left column is free for marks.
void make_lines(Model& model);

// Returns whether the rows of the page can be selected.
bool has_rows(const Model& model);

// All values of the selected row, each with the heading of its column.
std::vector<std::string> whole_row(const Model& model, std::size_t width);

// How many items can be selected or scrolled to: rows, or lines.
std::size_t item_count(const Model& model);

// Lines of the chart of a process above its page; 0 without one.
std::size_t process_chart_lines(const Model& model);

// Lines of the page that the screen shows, besides its header and chart.
std::size_t page_height(const Model& model);

// Keeps the selection on its row after a new answer; else where it was, with a message.
void select_row(Model& model);

// Selects a row, or scrolls to a line.
void select(Model& model, std::size_t item);

// Moves the selection down, or up if negative, as far as there are items.
void move_rows(Model& model, std::int64_t rows);

// Returns whether the action is a move among the rows, and carries it out.
bool move_in_rows(Model& model, Action action);

// Moves the page so that the selected row is on the screen.
void keep_visible(Model& model);

}  // namespace memoir::query::view
