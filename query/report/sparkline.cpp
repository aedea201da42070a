#include "query/report/sparkline.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace memoir::query {

namespace {

constexpr std::array<std::string_view, 8> kBars{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<std::string_view, 8> kAsciiBars{"_", ".", "-", "~", "=", "+", "*", "#"};

}  // namespace

std::string sparkline(std::span<const std::optional<double>> values, bool ascii) {
  std::optional<double> low;
  std::optional<double> high;
  for (const std::optional<double>& value : values) {
    if (!value) continue;
    low = std::min(low.value_or(*value), *value);
    high = std::max(high.value_or(*value), *value);
  }
  std::string line;
  for (const std::optional<double>& value : values) {
    if (!value) {
      line += ' ';
      continue;
    }
    const double share = *high > *low ? (*value - *low) / (*high - *low) : 0;
    const auto level = std::min<std::size_t>(static_cast<std::size_t>(share * 8), 7);
    line += (ascii ? kAsciiBars : kBars)[level];
  }
  return line;
}

}  // namespace memoir::query
