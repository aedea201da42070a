#pragma once

// Splits a line into words as a shell would: what stands between quotes stays together. Pure; the views point into the
// line, and joining gaps and words gives the line again.

#include <string_view>

namespace memoir {

// What stands around the words.
inline constexpr std::string_view kBlanks = " \t\r\n";

// Takes the blanks at the front of `line` off it.
std::string_view cut_gap(std::string_view& line);

// Takes the word at the front of `line` off it. A quote without its closing one is an ordinary character.
std::string_view cut_quoted_word(std::string_view& line);

// Whether `word` stands in quotes as a whole: "…" or '…'.
bool is_quoted(std::string_view word);

}  // namespace memoir
