#pragma once

// Makes a table of text fit a width: drops columns that tell nothing and the least useful ones, then cuts the longest
// names with "…". Pure, but for the locale's idea of how wide a character is (LC_CTYPE must be a UTF-8 one).

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "query/report/report.h"

namespace memoir::query {

struct TextColumn {
  std::string header;
  bool right = false;
  int least_useful = 0;
  bool breaks = false;  // the last one: goes on in further rows where it is not to be cut
};

struct TextTable {
  std::vector<TextColumn> columns;
  std::vector<std::vector<std::string>> rows;
  std::vector<Tone> tones = {};  // of each row; empty: all are plain
  Parents parents = {};          // as of a Table
};

// A level of a tree takes as much.
inline constexpr std::size_t kTreeStep = 2;

// Hangs what is deeper beside its parent, and says so: "(+2) sh" is two levels deeper than it stands.
void flatten(TextTable& table, std::size_t deepest);

// Columns on the terminal: 2 for CJK and emoji, 0 for what combines.
std::size_t display_width(std::string_view utf8);

// What the terminal can show of printable text (see base/text.h): a character that the locale knows no width for (of
// private use, not assigned yet) becomes `\u…`.
std::string showable(std::string_view utf8);

// At most `width` columns; what is cut ends in "…".
std::string shorten(std::string_view utf8, std::size_t width);

// Lines of at most `width` columns, broken at spaces and indented by `hang` from the second on; a word that is wider
// stays whole.
std::string wrap(std::string_view utf8, std::size_t width, std::size_t hang);

void fit(TextTable& table, std::size_t width);

}  // namespace memoir::query
