#pragma once

// The mouse: its events are keys with a place, "Press@12,5", so that they are recorded and played as keys are. Pure.

#include <cstddef>
#include <string>
#include <string_view>

#include "query/view/update.h"

namespace memoir::query::view {

std::string mouse_key(std::string_view event, std::size_t column, std::size_t line);

// Carries out an event: in the bar a click goes there, a drag zooms to its span, and the wheel zooms; rows, headings
// and tabs are chosen. Returns the equivalent key, which is empty if there is nothing left to do; any other
// key is returned as it is.
std::string point(Step& step, const std::string& key);

}  // namespace memoir::query::view
