#include <charconv>
#include <cmath>
#include <fmt/format.h>

#include "base/text.h"
#include "config/config.h"

namespace memoir {
namespace {

constexpr std::string_view kNoLimit = "unlimited";
constexpr double kPpmInPercent = 10'000;

Error not_share(std::string_view text) {
  return malformed(
      fmt::format("'{}' is not a share: write a number of percent, as 0.5%, or unlimited", to_printable(text)));
}

}  // namespace

Result<std::int64_t> parse_share(std::string_view text) {
  if (text == kNoLimit) return 0;
  const bool digit_first = !text.empty() && text.front() >= '0' && text.front() <= '9';
  if (!digit_first || !text.ends_with('%')) return not_share(text);
  double percent = 0;
  const char* const end = text.data() + text.size() - 1;
  const auto [stop, error] = std::from_chars(text.data(), end, percent, std::chars_format::fixed);
  if (error != std::errc{} || stop != end || !(percent >= 0)) return not_share(text);
  if (percent > 100) return malformed(fmt::format("the share '{}' is more than all", text));
  const double ppm = std::round(percent * kPpmInPercent);
  if (ppm == 0) return malformed(fmt::format("the share '{}' is nothing: write unlimited for no limit", text));
  return static_cast<std::int64_t>(ppm);
}

std::string print_share(std::int64_t ppm) {
  if (ppm == 0) return std::string(kNoLimit);
  return fmt::format("{}%", static_cast<double>(ppm) / kPpmInPercent);
}

}  // namespace memoir
