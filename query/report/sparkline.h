#pragma once

// One line that shows the shape of a series: each value a block of one of eight heights, from the lowest to the
// highest.

#include <optional>
#include <span>
#include <string>

namespace memoir::query {

// An absent value is a gap: a space.
std::string sparkline(std::span<const std::optional<double>> values, bool ascii);

}  // namespace memoir::query
