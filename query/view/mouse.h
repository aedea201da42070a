#pragma once

// Mouse events are keys with a position, "Press@12,5", so that they are recorded and played like keys. Pure.

#include <cstddef>
#include <string>
#include <string_view>

#include "query/view/update.h"

namespace memoir::query::view {

std::string mouse_key(std::string_view event, std::size_t column, std::size_t line);

// Handles a mouse event. In the bar, a click moves the cursor, a drag zooms to its span, and the wheel zooms. Clicks
// also select rows, headings and tabs. Returns the equivalent key; empty if nothing is left to do. Any other key is
// returned unchanged.
std::string point(Step& step, const std::string& key);

}  // namespace memoir::query::view
