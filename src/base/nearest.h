#pragma once

// What a misspelt word was meant to be.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace memoir {

// The closest of `candidates` to `word`: by edit distance, a swap counting as one, at most a third of its length, or
// one; else the only one that `word` is the beginning of.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates);

// "; did you mean 'web'?", printable; empty where none is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace memoir
