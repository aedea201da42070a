#include "query/report/format.h"

#include <algorithm>
#include <fmt/format.h>

namespace memoir::query {
namespace {

constexpr SizeUnit kKib{"KiB", 1};
constexpr SizeUnit kMib{"MiB", 1024};
constexpr SizeUnit kGib{"GiB", 1024 * 1024};
constexpr SizeUnit kTib{"TiB", 1024 * 1024 * 1024};

std::int64_t magnitude(std::int64_t value) {
  return value < 0 ? -value : value;
}

std::string two_parts(std::int64_t value, std::int64_t parts, const char* whole, const char* part) {
  if (value % parts == 0) return fmt::format("{} {}", value / parts, whole);
  return fmt::format("{} {} {} {}", value / parts, whole, value % parts, part);
}

}  // namespace

SizeUnit unit_for(double kib, Units units) {
  if (units == Units::kib) return kKib;
  if (units == Units::mib) return kMib;
  if (units == Units::gib) return kGib;
  SizeUnit unit = kKib;
  for (const SizeUnit& larger : {kMib, kGib, kTib}) {
    if (kib >= static_cast<double>(larger.kib)) unit = larger;
  }
  return unit;
}

SizeUnit choose_unit(std::vector<std::int64_t> sizes_kib, Units units) {
  if (units != Units::automatic) return unit_for(0, units);
  std::erase(sizes_kib, 0);
  if (sizes_kib.empty()) return kMib;
  const auto middle = sizes_kib.begin() + static_cast<std::ptrdiff_t>(sizes_kib.size() / 2);
  std::ranges::nth_element(sizes_kib, middle, {}, magnitude);
  const std::int64_t typical = magnitude(*middle);
  if (typical >= 10 * kGib.kib) return kGib;
  return typical * 5 >= kMib.kib ? kMib : kKib;
}

std::string format_decimal(double value) {
  const std::string text = fmt::format("{:.1f}", value);
  return text == "-0.0" ? "0.0" : text;
}

std::string format_size(std::int64_t kib, SizeUnit unit) {
  if (unit.kib == 1) return fmt::format("{}", kib);
  return format_decimal(static_cast<double>(kib) / static_cast<double>(unit.kib));
}

std::string format_size(std::int64_t kib, Units units) {
  const SizeUnit unit = unit_for(static_cast<double>(magnitude(kib)), units);
  return fmt::format("{} {}", format_size(kib, unit), unit.name);
}

std::string format_change(std::int64_t kib, SizeUnit unit) {
  const std::string text = format_size(kib, unit);
  return kib > 0 && text.find_first_not_of("0.") != std::string::npos ? "+" + text : text;
}

std::string format_change(std::int64_t kib, Units units) {
  return (kib > 0 ? "+" : "") + format_size(kib, units);
}

std::string format_span(std::int64_t ms) {
  if (ms < 1000) return fmt::format("{} ms", ms);
  const std::int64_t seconds = (ms + 500) / 1000;
  if (seconds < 60) return fmt::format("{} s", seconds);
  if (seconds < 3600) return two_parts(seconds, 60, "min", "s");
  const std::int64_t minutes = seconds / 60;
  if (minutes < 24 * 60) return two_parts(minutes, 60, "h", "min");
  return two_parts(minutes / 60, 24, "d", "h");
}

std::string format_percent(double percent) {
  return format_decimal(percent) + "%";
}

std::string format_exact_percent(double percent) {
  return percent >= 100.0 ? "all" : format_percent(std::min(percent, 99.9));
}

std::string format_count(std::int64_t count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string coverage_line(const Coverage& coverage, Zone zone) {
  std::string line = fmt::format("Recorded {} of {} ({})", format_span(coverage.recorded_ms),
                                 format_span(coverage.asked.to_ms - coverage.asked.from_ms),
                                 format_count(coverage.ticks, "tick", "ticks"));
  if (coverage.gaps.empty()) return line + ", without a gap.";
  const auto longest =
      std::ranges::max_element(coverage.gaps, {}, [](const Gap& gap) { return gap.to_ms - gap.from_ms; });
  const bool one = coverage.gaps.size() == 1;
  return line + fmt::format("; {}{} at {} ({}).",
                            one ? "a gap of " : fmt::format("{} gaps, the longest ", coverage.gaps.size()),
                            format_span(longest->to_ms - longest->from_ms), format_time(longest->from_ms, zone),
                            longest->reason);
}

}  // namespace memoir::query
