#pragma once

// Makes a human-readable table in two steps, for callers that fit its width and place its lines themselves.

#include <string>
#include <vector>

#include "query/render/layout.h"
#include "query/render/render.h"

namespace memoir::query {

// Returns the cells as text, not fitted to a width.
TextTable text_table(const Table& table, const Presentation& presentation);

// Returns the header and one line per row. Draws the branches if the rows form a tree.
std::vector<std::string> table_lines(TextTable table, bool ascii);

}  // namespace memoir::query
