#pragma once

#include <cstddef>
#include <optional>

namespace memoir::query {

// Characters and widths of UTF-8, whatever the environment: names come from anywhere, and terminals are UTF-8.
void use_utf8();

// Columns of the terminal on standard output ($COLUMNS comes first); absent if it is none.
std::optional<std::size_t> terminal_width();

// Colour suits a terminal that is not "dumb", unless NO_COLOR is set to something (no-color.org).
bool terminal_has_color();

}  // namespace memoir::query
