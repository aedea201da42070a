#pragma once

// Finds the intended word for a misspelt one.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace memoir {

// Returns the closest of `candidates` to `word`: by edit distance (a swap counts as one), at most a third of its
// length, or one. Otherwise the only candidate that starts with `word`.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates);

// "; did you mean 'web'?", printable; empty without a close candidate.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace memoir
