#include "query/view/layout_of.h"

#include <algorithm>

namespace memoir::query::view {

Layout layout_of(const Screen& screen) {
  constexpr std::size_t tall = 40;
  constexpr std::size_t usual = 20;
  constexpr std::size_t low = 12;
  const std::size_t lines = std::max(screen.lines, kMinLines);
  Layout layout;
  layout.chart_lines = lines >= tall ? 6 : lines >= usual ? 3 : lines >= low ? 2 : 0;
  layout.pressure_line = lines >= usual ? layout.chart_lines + 1 : 0;
  const std::size_t bar = layout.chart_lines == 0 ? 1 : layout.chart_lines + (lines >= usual ? 3 : 2);
  layout.machine_line = 1 + bar;
  layout.tabs_line = layout.machine_line + 1;
  layout.page_line = layout.tabs_line + 1;
  layout.keys_line = lines - 1;
  layout.status_line = lines - 2;
  layout.page_lines = layout.status_line - layout.page_line;
  return layout;
}

std::size_t bar_columns(const Screen& screen) {
  return std::max(screen.columns, kMinColumns) - kBarLabel;
}

}  // namespace memoir::query::view
