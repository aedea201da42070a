// Numbers with units in human-readable form: durations and ages, sizes, shares.

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <optional>

#include "base/text.h"
#include "config/config.h"

namespace memoir {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t of;  // size of the unit, in ms or bytes
};

// Sorted from the largest unit to the smallest.
constexpr std::array<Unit, 6> kDurationUnits{
    {{"w", 604'800'000}, {"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1'000}, {"ms", 1}}};
constexpr std::array<Unit, 4> kByteUnits{
    {{"TiB", 1LL << 40}, {"GiB", 1LL << 30}, {"MiB", 1LL << 20}, {"KiB", 1LL << 10}}};

// Long names of units, as in systemd.time(7). They may end with the "s" of the plural.
struct LongName {
  std::string_view name;
  std::string_view unit;
};
constexpr std::array<LongName, 8> kLongNames{{{"sec", "s"},
                                              {"second", "s"},
                                              {"min", "m"},
                                              {"minute", "m"},
                                              {"hr", "h"},
                                              {"hour", "h"},
                                              {"day", "d"},
                                              {"week", "w"}}};

constexpr const char* kForever = "forever";
constexpr const char* kUnlimited = "unlimited";

constexpr double kPpmInPercent = 10'000;
// Larger than any setting and any disk, and exact in a double.
constexpr double kLongestMs = 1e15;
constexpr double kMaxBytes = 0x1p53;

// Removes an unsigned number from the front of `text`.
std::optional<double> take_number(std::string_view& text) {
  if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  return number;
}

const Unit* duration_unit(std::string_view name) {
  std::string_view one = name;
  if (one.size() > 1 && one.back() == 's' && one != "ms") one.remove_suffix(1);
  const auto* const known = std::ranges::find(kLongNames, one, &LongName::name);
  const auto* const unit =
      std::ranges::find(kDurationUnits, known == kLongNames.end() ? name : known->unit, &Unit::name);
  return unit == kDurationUnits.end() ? nullptr : unit;
}

Error not_a_duration(std::string_view text) {
  if (!text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos)
    return malformed(fmt::format("'{}' has no unit: {}s is seconds, {}m minutes", text, text, text));
  return malformed(fmt::format(
      "'{}' is not a duration: write a number and a unit (ms, s, m, h, d, w), such as 1h30m, 500ms, 10s, 1.5m, 1h",
      to_printable(text)));
}

Error not_held(std::string_view text, std::string_view why) {
  return malformed(fmt::format("the duration '{}' {}", to_printable(text), why));
}

Error not_bytes(std::string_view text) {
  return malformed(fmt::format(
      "'{}' is not a size: write a number and a unit (KiB, MiB, GiB, TiB), such as 64MiB, 1.5GiB, or unlimited",
      to_printable(text)));
}

}  // namespace

Result<std::chrono::milliseconds> parse_duration(std::string_view text) {
  double all_ms = 0;
  double largest = kLongestMs;  // each part has a smaller unit than the previous one: 1h30m
  for (std::string_view rest = text; !rest.empty() || text.empty();) {
    const auto number = take_number(rest);
    const std::string_view name = rest.substr(0, rest.find_first_of("0123456789"));
    const Unit* const unit = duration_unit(trim(name));
    if (!number || unit == nullptr || static_cast<double>(unit->of) >= largest) return not_a_duration(text);
    const double ms = std::round(*number * static_cast<double>(unit->of));
    if (ms == 0 && *number != 0) return not_held(text, "is shorter than 1ms");
    all_ms += ms;
    largest = static_cast<double>(unit->of);
    rest.remove_prefix(name.size());
  }
  if (!(all_ms <= kLongestMs)) return not_held(text, "is too long");
  return std::chrono::milliseconds(static_cast<std::int64_t>(all_ms));
}

std::string format_duration(std::chrono::milliseconds duration) {
  const std::int64_t ms = duration.count();
  if (ms == 0) return "0s";
  for (const Unit& unit : kDurationUnits) {
    if (unit.name != "w" && ms % unit.of == 0) return fmt::format("{}{}", ms / unit.of, unit.name);
  }
  return fmt::format("{}ms", ms);
}

Result<std::chrono::milliseconds> parse_age(std::string_view text) {
  if (text == kForever) return std::chrono::milliseconds(0);
  Result<std::chrono::milliseconds> age = parse_duration(text);
  if (!age) return malformed(age.error().message + ", or forever");
  if (age->count() == 0) return malformed(fmt::format("'{}' would keep nothing; write forever to keep all", text));
  return age;
}

std::string format_age(std::chrono::milliseconds age) {
  return age.count() == 0 ? kForever : format_duration(age);
}

Result<std::int64_t> parse_bytes(std::string_view text) {
  if (text == kUnlimited) return 0;
  std::string_view name = text;
  const auto number = take_number(name);
  const auto* const unit = std::ranges::find(kByteUnits, name, &Unit::name);
  if (!number || unit == kByteUnits.end()) return not_bytes(text);
  const double bytes = std::round(*number * static_cast<double>(unit->of));
  if (!(bytes <= kMaxBytes)) return malformed(fmt::format("the size '{}' is too large", text));
  if (bytes == 0) return malformed(fmt::format("the size '{}' is 0: write unlimited for no limit", text));
  return static_cast<std::int64_t>(bytes);
}

std::string format_bytes(std::int64_t bytes) {
  if (bytes == 0) return kUnlimited;
  for (const Unit& unit : kByteUnits) {
    if (bytes % unit.of == 0) return fmt::format("{}{}", bytes / unit.of, unit.name);
  }
  // The size has a fraction of a KiB. It is printed so that it reads back to the same value.
  return fmt::format("{}KiB", static_cast<double>(bytes) / 1024.0);
}

Result<std::int64_t> parse_share(std::string_view text) {
  if (text == kUnlimited) return 0;
  std::string_view rest = text;
  const auto percent = take_number(rest);
  if (!percent || rest != "%") {
    return malformed(
        fmt::format("'{}' is not a share: write a percentage, such as 0.5%, or unlimited", to_printable(text)));
  }
  if (*percent > 100) return malformed(fmt::format("the share '{}' is more than 100%", text));
  const double ppm = std::round(*percent * kPpmInPercent);
  if (ppm == 0) return malformed(fmt::format("the share '{}' is 0: write unlimited for no limit", text));
  return static_cast<std::int64_t>(ppm);
}

std::string format_share(std::int64_t ppm) {
  if (ppm == 0) return kUnlimited;
  return fmt::format("{}%", static_cast<double>(ppm) / kPpmInPercent);
}

}  // namespace memoir
