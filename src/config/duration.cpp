#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <fmt/format.h>

#include "base/text.h"
#include "config/config.h"

namespace memoir {
namespace {

struct DurationUnit {
  std::string_view name;
  std::int64_t ms;
};

// Largest first.
constexpr std::array<DurationUnit, 6> kDurationUnits{
    {{"w", 604'800'000}, {"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1'000}, {"ms", 1}}};

constexpr const char* kForever = "forever";

// Far beyond any setting, and exact in a double.
constexpr double kLongestMs = 1e15;

Error not_a_duration(std::string_view text) {
  return malformed(fmt::format(
      "'{}' is not a duration: write a number and a unit (ms, s, m, h, d, w), as 1h30m, 500ms, 10s, 1.5m, 1h",
      to_printable(text)));
}

Error not_held(std::string_view text, std::string_view why) {
  return malformed(fmt::format("the duration '{}' {}", to_printable(text), why));
}

}  // namespace

Result<std::chrono::milliseconds> parse_duration(std::string_view text) {
  double all_ms = 0;
  double largest = kLongestMs;  // each part has a smaller unit than the one before: 1h30m
  for (std::string_view rest = text; !rest.empty() || text.empty();) {
    const bool digit_first = !rest.empty() && std::isdigit(static_cast<unsigned char>(rest.front())) != 0;
    if (!digit_first) return not_a_duration(text);
    double number = 0;
    const char* end = rest.data() + rest.size();
    const auto [stop, error] = std::from_chars(rest.data(), end, number, std::chars_format::fixed);
    if (error != std::errc{}) return not_a_duration(text);
    const char* next = std::find_if(stop, end, [](unsigned char c) { return std::isdigit(c) != 0; });
    const std::string_view name(stop, static_cast<std::size_t>(next - stop));
    const auto* const unit = std::ranges::find(kDurationUnits, name, &DurationUnit::name);
    if (unit == kDurationUnits.end() || static_cast<double>(unit->ms) >= largest) return not_a_duration(text);
    const double ms = std::round(number * static_cast<double>(unit->ms));
    if (ms == 0 && number != 0) return not_held(text, "is shorter than 1ms");
    all_ms += ms;
    largest = static_cast<double>(unit->ms);
    rest.remove_prefix(static_cast<std::size_t>(next - rest.data()));
  }
  if (!(all_ms <= kLongestMs)) return not_held(text, "is too long");
  return std::chrono::milliseconds(static_cast<std::int64_t>(all_ms));
}

Result<std::chrono::milliseconds> parse_age(std::string_view text) {
  if (text == kForever) return std::chrono::milliseconds(0);
  Result<std::chrono::milliseconds> age = parse_duration(text);
  if (!age) return malformed(age.error().message + ", or forever");
  if (age->count() == 0) return malformed(fmt::format("'{}' would keep nothing; write forever to keep all", text));
  return age;
}

std::string print_age(std::chrono::milliseconds age) {
  return age.count() == 0 ? kForever : print_duration(age);
}

std::string print_duration(std::chrono::milliseconds duration) {
  const std::int64_t ms = duration.count();
  if (ms == 0) return "0s";
  for (const DurationUnit& unit : kDurationUnits) {
    if (unit.name != "w" && ms % unit.ms == 0) return fmt::format("{}{}", ms / unit.ms, unit.name);
  }
  return fmt::format("{}ms", ms);
}

}  // namespace memoir
