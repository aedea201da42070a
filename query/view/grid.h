#pragma once

// The screen as cells: what draw() makes and the terminal shows. Pure, except for the locale's character widths.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "query/render/terminal.h"
#include "query/report/report.h"

namespace memoir::query::view {

struct Style {
  Tone tone = Tone::plain;
  bool reverse = false;
  bool dim = false;

  bool operator==(const Style&) const = default;
};

struct Cell {
  std::string utf8 = " ";  // empty: the right half of a wide character
  Style style;
};

class CellGrid {
 public:
  explicit CellGrid(Screen screen);

  std::size_t lines() const { return cells_.size(); }
  std::size_t columns() const { return columns_; }
  const std::vector<Cell>& line(std::size_t at) const { return cells_[at]; }

  // Writes printable text from a column on, truncated at the right edge. Returns the column after it.
  std::size_t put(std::size_t line, std::size_t column, std::string_view text, Style style = {});
  // Writes text that ends at the right edge.
  void put_right(std::size_t line, std::string_view text, Style style = {});
  // Sets the style of some cells, and keeps their text.
  void paint(std::size_t line, std::size_t column, std::size_t count, Style style);
  // Changes the text of every cell that shows exactly `text`.
  void replace(std::string_view text, std::string_view by);
  void clear(std::size_t line, std::size_t column, std::size_t count);

  // Where the terminal's cursor is: screen readers read that line.
  void set_cursor(std::size_t line) { cursor_line_ = line; }
  std::size_t cursor_line() const { return cursor_line_; }

  // The lines without trailing spaces.
  std::string text() const;
  // A letter for the style of each cell: R reverse, d dim, b bold, w warning, p problem.
  std::string styles() const;

 private:
  std::size_t columns_;
  std::vector<std::vector<Cell>> cells_;
  std::size_t cursor_line_ = 0;
};

}  // namespace memoir::query::view
