#pragma once

// Finds the intended word for a misspelt one.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace memoir {

// Returns the candidate with the smallest edit distance to `word` (a swap counts as one), if that is at most a third
// of the word's length, or one. Otherwise returns the only candidate that starts with `word`; nullopt if there is
// none.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates);

// Returns "; did you mean 'web'?", printable; empty without a close candidate.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace memoir
