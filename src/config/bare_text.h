#pragma once

// What of a TOML file stands outside of its strings and comments. For the parser alone.

#include <cstddef>
#include <optional>
#include <string_view>

namespace memoir {

// The line (from 1) of the first byte beyond ASCII there. TOML allows none, and toml++ 3.3 looks up such a letter in
// tables of its own with an undefined shift.
std::optional<std::size_t> line_beyond_ascii(std::string_view toml);

}  // namespace memoir
