#pragma once

// Makes a text table fit a width: drops empty columns and the least useful ones, then shortens the longest names with
// "…". Pure, except for the locale's character widths (LC_CTYPE must be a UTF-8 one).

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "query/report/report.h"

namespace memoir::query {

struct TextColumn {
  std::string header;
  bool right = false;
  int drop_order = 0;
  bool breaks = false;  // the last column: its text continues in further rows instead of being truncated
};

struct TextTable {
  std::vector<TextColumn> columns;
  std::vector<std::vector<std::string>> rows;
  std::vector<Tone> tones = {};  // tone of each row; empty: all are plain
  Parents parents = {};          // as in a Table
};

// Width of one level of a tree.
inline constexpr std::size_t kTreeStep = 2;

// Moves rows that are too deep up to the level of their parent, with a note: "(+2) sh" is two levels deeper than shown.
void flatten(TextTable& table, std::size_t deepest);

// Returns the number of columns that text takes on the terminal: 2 for CJK and emoji, 0 for combining characters.
std::size_t display_width(std::string_view utf8);

// Makes printable text (base/text.h) fit for the terminal: a character without a width in the locale (private use, not
// assigned yet) becomes `\u…`.
std::string showable(std::string_view utf8);

// Returns at most `width` columns of text; truncated text ends in "…".
std::string shorten(std::string_view utf8, std::size_t width);

// Breaks text into lines of at most `width` columns, at spaces but not before a unit. Lines after the first are
// indented by `hang`. A word wider than `width` is not broken.
std::string wrap(std::string_view utf8, std::size_t width, std::size_t hang);

// Puts a no-break space between each number and its unit: "134.7 MiB".
std::string keep_units(std::string_view text);

void fit(TextTable& table, std::size_t width);

// A line that may begin with a short label: "Pressure   none". Without a label, all of it is text.
struct LabelledLine {
  std::string_view label;
  std::string_view text;
};
LabelledLine split_label(std::string_view line);

}  // namespace memoir::query
