#include <array>
#include <charconv>
#include <cmath>
#include <fmt/format.h>

#include "base/text.h"
#include "config/config.h"

namespace memoir {
namespace {

constexpr const char* kUnlimited = "unlimited";

struct ByteUnit {
  std::string_view name;
  std::int64_t bytes;
};

// Largest first.
constexpr std::array<ByteUnit, 4> kByteUnits{
    {{"TiB", 1LL << 40}, {"GiB", 1LL << 30}, {"MiB", 1LL << 20}, {"KiB", 1LL << 10}}};

// Far beyond any disk, and exact in a double.
constexpr double kMostBytes = 0x1p53;

Error not_bytes(std::string_view text) {
  return malformed(
      fmt::format("'{}' is not a size: write a number and a unit (KiB, MiB, GiB, TiB), as 64MiB, 1.5GiB, or unlimited",
                  to_printable(text)));
}

}  // namespace

Result<std::int64_t> parse_bytes(std::string_view text) {
  if (text == kUnlimited) return 0;
  const bool digit_first = !text.empty() && text.front() >= '0' && text.front() <= '9';
  if (!digit_first) return not_bytes(text);
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (error != std::errc{}) return not_bytes(text);
  const std::string_view name(stop, static_cast<std::size_t>(end - stop));
  for (const ByteUnit& unit : kByteUnits) {
    if (unit.name != name) continue;
    const double bytes = std::round(number * static_cast<double>(unit.bytes));
    if (!(bytes <= kMostBytes)) return malformed(fmt::format("the size '{}' is too large", text));
    if (bytes == 0) return malformed(fmt::format("the size '{}' is nothing: write unlimited for no limit", text));
    return static_cast<std::int64_t>(bytes);
  }
  return not_bytes(text);
}

std::string print_bytes(std::int64_t bytes) {
  if (bytes == 0) return kUnlimited;
  for (const ByteUnit& unit : kByteUnits) {
    if (bytes % unit.bytes == 0) return fmt::format("{}{}", bytes / unit.bytes, unit.name);
  }
  // Only a fraction of a KiB comes here: print it so that it reads back to the same.
  return fmt::format("{}KiB", static_cast<double>(bytes) / 1024.0);
}

}  // namespace memoir
