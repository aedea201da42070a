// Compares each hour of the day with the same hour in the four weeks before.

#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "base/text.h"
#include "query/commands/summary/summary.h"
#include "query/history/history.h"
#include "query/history/tier.h"
#include "query/report/format.h"
#include "store/names.h"

namespace memoir::query {
namespace {

constexpr int kDaysOfRange = 28;
constexpr std::int64_t kFewestDays = 7;  // minimum number of days on which that hour was recorded
// A value slightly outside of a narrow range is noise: it must exceed the range by these shares of the range's width
// and of the machine's memory.
constexpr double kBeyondWidth = 0.25;
constexpr double kBeyondMemory = 0.02;

struct HourlySeries {
  std::string subject;  // empty: the machine
  std::string title;
  std::string command;
  std::vector<Interval> series;  // values in time order
};

// One hour in which memory was outside the range of the weeks before.
struct UnusualHour {
  std::int64_t from_ms = 0;
  std::int64_t kib = 0;
  std::int64_t lowest_kib = 0;  // lowest value of the range
  std::int64_t highest_kib = 0;
  std::int64_t days = 0;

  bool above() const { return kib > highest_kib; }
  std::int64_t beyond_kib() const { return above() ? kib - highest_kib : lowest_kib - kib; }
};

// Returns the mean of an hour of which at least half was recorded; an absent subject counts as 0.
std::optional<std::int64_t> mean_of_hour(const HourlySeries& of, const std::vector<Interval>& machine,
                                         std::int64_t from_ms) {
  const auto part = [from_ms](const std::vector<Interval>& series) {
    const auto first = std::ranges::upper_bound(series, from_ms, {}, &Interval::until_ms);
    const auto last = std::lower_bound(first, series.end(), from_ms + kHourMs,
                                       [](const Interval& bucket, std::int64_t ms) { return bucket.from_ms < ms; });
    return std::span<const Interval>(first, last);
  };
  const std::int64_t recorded_ms = covered_ms_of(part(machine), from_ms, from_ms + kHourMs);
  if (2 * recorded_ms < kHourMs) return std::nullopt;
  const SpanStats figures = span_stats_of(part(of.series), from_ms, from_ms + kHourMs);
  if (!figures.mean) return 0;
  return mean_of_held(static_cast<long double>(*figures.mean) * static_cast<long double>(figures.covered_ms),
                      figures.covered_ms, recorded_ms);
}

std::vector<UnusualHour> unusual_hours(const HourlySeries& of, const std::vector<Interval>& machine, const Day& day,
                                       std::int64_t total_kib, Zone zone) {
  std::vector<Day> before;
  for (int back = 1; back <= kDaysOfRange; ++back) before.push_back(day_before(day, back, zone));
  std::vector<UnusualHour> hours;
  for (std::int64_t from_ms = day.begin_ms; from_ms + kHourMs <= day.end_ms; from_ms += kHourMs) {
    const auto kib = mean_of_hour(of, machine, from_ms);
    if (!kib) continue;
    UnusualHour hour{.from_ms = from_ms, .kib = *kib};
    for (const Day& other : before) {
      const auto then = mean_of_hour(of, machine, other.begin_ms + from_ms - day.begin_ms);
      if (!then) continue;
      hour.lowest_kib = hour.days == 0 ? *then : std::min(hour.lowest_kib, *then);
      hour.highest_kib = hour.days == 0 ? *then : std::max(hour.highest_kib, *then);
      ++hour.days;
    }
    if (hour.days < kFewestDays || (hour.kib >= hour.lowest_kib && hour.kib <= hour.highest_kib)) continue;
    const auto beyond = static_cast<double>(hour.beyond_kib());
    if (beyond < kBeyondWidth * static_cast<double>(hour.highest_kib - hour.lowest_kib)) continue;
    if (beyond >= kBeyondMemory * static_cast<double>(total_kib)) hours.push_back(hour);
  }
  return hours;
}

// Combines the hours that were too high, or those that were too low, into one concern.
void add_hours(const HourlySeries& of, std::vector<UnusualHour> hours, const Options& options, DaySummary& summary) {
  if (hours.empty()) return;
  const UnusualHour& worst = *std::ranges::max_element(hours, {}, &UnusualHour::beyond_kib);
  const Stamp stamp{options.zone, summary.is_week()};
  const std::string usual = worst.lowest_kib == worst.highest_kib
                                ? format_size(worst.lowest_kib, options.units)
                                : fmt::format("{} to {}", format_size(worst.lowest_kib, options.units),
                                              format_size(worst.highest_kib, options.units));
  const std::size_t others = hours.size() - 1;
  summary.attention.push_back(
      {.kind = "unusual",
       .subject = of.subject,
       .text = fmt::format(
           "{} was {} from {} to {}, usually {} at that hour ({} days){}", of.title,
           format_size(worst.kib, options.units), format_minute(worst.from_ms, stamp),
           format_minute(worst.from_ms + kHourMs, stamp), usual, worst.days,
           others == 0 ? ""
                       : fmt::format("; {} in {}", worst.above() ? "higher than usual" : "lower than usual",
                                     format_count(static_cast<std::int64_t>(others), "other hour", "other hours"))),
       .command = of.command + format_date(worst.from_ms, options.zone),
       .at_ms = worst.from_ms,
       .value_kib = worst.kib,
       .limit_kib = worst.above() ? worst.highest_kib : worst.lowest_kib});
}

Result<std::vector<HourlySeries>> load_hourly(Reader& reader, Range range) {
  std::vector<HourlySeries> all;
  SeriesByMetric machine =
      TRY(load_series(reader, {Tier::hour, SubjectKind::machine, {}, range, {Metric::used, Metric::swap_used}, true}));
  all.push_back({"", "Memory in use", "memoir trend used --day ", std::move(machine[Metric::used])});
  all.push_back({"", "Swap in use", "memoir trend swap_used --day ", std::move(machine[Metric::swap_used])});
  const std::map<std::int64_t, std::string> names = TRY(load_group_names(reader, SubjectKind::category));
  std::map<std::int64_t, std::vector<Interval>> categories;
  TRY(reader.history({Tier::hour, SubjectKind::category, {}, range, {Metric::pss}, true},
                     [&](const SubjectInterval& of) { categories[of.subject_id].push_back(of.interval); }));
  for (auto& [id, series] : categories) {
    const auto name = names.find(id);
    if (name == names.end()) continue;
    std::ranges::stable_sort(series, {}, &Interval::from_ms);
    all.push_back({name->second, fmt::format("PSS of category {}", to_printable(name->second)),
                   fmt::format("memoir trend category:{} --day ", name->second), std::move(series)});
  }
  return all;
}

}  // namespace

Status add_unusual(const Context& context, DaySummary& summary) {
  const Zone zone = context.options.zone;
  const std::vector<Day> days = summary.is_week() ? summary.parts : std::vector<Day>{summary.day};
  const Day first = day_before(days.front(), kDaysOfRange, zone);
  const std::vector<HourlySeries> all = TRY(load_hourly(context.reader, {first.begin_ms, summary.day.end_ms - 1}));
  const std::int64_t total_kib = summary.total_kib.value_or(0);
  for (const HourlySeries& of : all) {
    std::vector<UnusualHour> above;
    std::vector<UnusualHour> below;
    for (const Day& day : days) {
      for (const UnusualHour& hour : unusual_hours(of, all.front().series, day, total_kib, zone))
        (hour.above() ? above : below).push_back(hour);
    }
    add_hours(of, std::move(above), context.options, summary);
    add_hours(of, std::move(below), context.options, summary);
  }
  return Done{};
}

}  // namespace memoir::query
