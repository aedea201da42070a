#pragma once

// Assigns the lines of the screen to its parts, depending on the size. Pure.

#include <cstddef>

#include "query/render/terminal.h"

namespace memoir::query::view {

// Smallest supported screen; a smaller one shows only a part of it.
inline constexpr std::size_t kMinColumns = 40;
inline constexpr std::size_t kMinLines = 8;
// Width of the process right of a table, with the line between them.
inline constexpr std::size_t kSideColumns = 60;
// Width of the labels left of the bar, as in "1023M┤".
inline constexpr std::size_t kBarLabel = 6;

struct Layout {
  std::size_t chart_lines = 3;    // 0: one line of small blocks
  std::size_t pressure_line = 4;  // 0: none
  std::size_t machine_line = 7;
  std::size_t tabs_line = 8;
  std::size_t page_line = 9;  // the first of the page, which includes its header
  std::size_t page_lines = 13;
  std::size_t status_line = 22;
  std::size_t keys_line = 23;
};

Layout layout_of(const Screen& screen);

// Columns of the bar.
std::size_t bar_columns(const Screen& screen);

}  // namespace memoir::query::view
