#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "analysis/series.h"
#include "query/args/times.h"
#include "query/commands/summary/summary.h"
#include "query/report/chart.h"

namespace memoir::query {

namespace {

constexpr std::size_t kMaxSmall = 6;

std::optional<double> real(std::optional<std::int64_t> value) {
  return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
}

bool within(const Interval& bucket, const Day& day) {
  return bucket.until_ms > day.begin_ms && bucket.from_ms < day.end_ms;
}

// Returns a point for each recorded bucket of the day, and none for a gap.
std::vector<ChartPoint> points_of(const std::vector<Interval>& series, const Day& day) {
  std::vector<ChartPoint> points;
  for (const Interval& bucket : series) {
    if (!within(bucket, day) || !bucket.mean) continue;
    points.push_back({std::max(bucket.from_ms, day.begin_ms), std::min(bucket.until_ms, day.end_ms), real(bucket.min),
                      real(bucket.mean), real(bucket.max)});
  }
  return points;
}

// Returns every third hour of the clock, even on a day of 23 or 25 hours.
std::vector<std::pair<std::int64_t, std::string>> hours_of(const Day& day, Zone zone) {
  std::vector<std::pair<std::int64_t, std::string>> times;
  Civil at = to_civil(day.begin_ms, zone);
  for (int hour = 0; hour < 24; hour += 3) {
    at.hour = hour;
    times.emplace_back(moments_of(at, zone).front(), fmt::format("{:02}:00", hour));
  }
  times.emplace_back(day.end_ms, "24:00");
  return times;
}

std::vector<std::pair<std::int64_t, std::string>> days_of(const DaySummary& summary, Zone zone) {
  return transformed(summary.parts, [zone](const Day& day) {
    const Civil at = to_civil(day.begin_ms, zone);
    return std::pair(day.begin_ms, fmt::format("{} {}", format_weekday(at), at.day));
  });
}

// Returns the range of the previous days at each time of the day, moved to this day. Its points are a quarter of an
// hour wide: single buckets would make it ragged.
std::vector<ChartPoint> usual_of(const DaySummary& summary) {
  constexpr std::int64_t width_ms = kHourMs / 4;
  const Day& day = summary.day;
  std::vector<ChartPoint> points;
  if (summary.is_week()) return points;
  for (std::int64_t from_ms = day.begin_ms; from_ms < day.end_ms; from_ms += width_ms) {
    points.push_back({from_ms, std::min(from_ms + width_ms, day.end_ms), {}, {}, {}});
  }
  for (std::size_t i = 0; i + 1 < summary.days.size(); ++i) {
    const std::int64_t shift_ms = day.begin_ms - summary.days[i].day.begin_ms;
    for (const Interval& bucket : summary.used) {
      if (!within(bucket, summary.days[i].day) || !bucket.mean) continue;
      for (ChartPoint& point : points) {
        if (bucket.until_ms + shift_ms <= point.from_ms || bucket.from_ms + shift_ms >= point.until_ms) continue;
        const auto mean = static_cast<double>(*bucket.mean);
        point.low = std::min(point.low.value_or(mean), mean);
        point.high = std::max(point.high.value_or(mean), mean);
      }
    }
  }
  return points;
}

Chart day_chart(std::string title, std::vector<ChartPoint> points, const DaySummary& summary, Zone zone) {
  Chart chart;
  chart.title = std::move(title);
  chart.from_ms = summary.day.begin_ms;
  chart.to_ms = summary.day.end_ms;
  chart.points = std::move(points);
  chart.times = summary.is_week() ? days_of(summary, zone) : hours_of(summary.day, zone);
  return chart;
}

Chart used_chart(const DaySummary& summary, Zone zone) {
  Chart chart = day_chart("Memory in use", points_of(summary.used, summary.day), summary, zone);
  chart.usual = usual_of(summary);
  chart.value_name = "this day: mean and range";
  const bool usual = std::ranges::any_of(chart.usual, [](const ChartPoint& point) { return point.low.has_value(); });
  if (usual) chart.usual_name = "range of the days before";
  if (summary.total_kib) {
    chart.limit = real(summary.total_kib);
    chart.limit_name = "all memory";
  }
  return chart;
}

Chart week_chart(const DaySummary& summary, Zone zone) {
  Chart chart;
  chart.title = "Memory in use by day: lowest, mean and highest";
  chart.from_ms = shown_days(summary).front().day.begin_ms;
  chart.to_ms = summary.day.end_ms;
  for (const MachineDay& day : shown_days(summary)) {
    if (summary.is_week() && day.day.begin_ms == summary.day.begin_ms && day.day.end_ms == summary.day.end_ms) continue;
    const auto value = [](const std::optional<Extremum>& extremum) {
      return extremum ? real(extremum->value) : std::nullopt;
    };
    chart.points.push_back(
        {day.day.begin_ms, day.day.end_ms, value(day.used.lowest), real(day.used.mean), value(day.used.highest)});
    // The weekday alone would occur twice among eight days.
    const Civil at = to_civil(day.day.begin_ms, zone);
    chart.times.emplace_back((day.day.begin_ms + day.day.end_ms) / 2, fmt::format("{} {}", format_weekday(at), at.day));
  }
  return chart;
}

// Returns points of a quarter of an hour, in a week of an hour: a small chart does not show more. An absent subject
// counts as 0.
std::vector<ChartPoint> coarse(const std::vector<Interval>& series, const DaySummary& summary) {
  const Day& day = summary.day;
  const std::int64_t step_ms = summary.is_week() ? kHourMs : kHourMs / 4;
  std::vector<ChartPoint> points;
  for (std::int64_t from_ms = day.begin_ms; from_ms < day.end_ms; from_ms += step_ms) {
    const std::int64_t until_ms = std::min(from_ms + step_ms, day.end_ms);
    const SpanStats figures = span_stats_of(series, from_ms, until_ms);
    if (covered_ms_of(summary.used, from_ms, until_ms) == 0) continue;
    if (!figures.mean) points.push_back({from_ms, until_ms, 0, 0, 0});
    if (!figures.mean || !figures.highest || !figures.lowest) continue;
    points.push_back(
        {from_ms, until_ms, real(figures.lowest->value), real(figures.mean), real(figures.highest->value)});
  }
  return points;
}

}  // namespace

std::vector<Chart> summary_charts(const DaySummary& summary, Zone zone) {
  std::vector<Chart> charts{used_chart(summary, zone)};
  const auto& swap = summary.today().swap.highest;
  if (swap && swap->value > 0)
    charts.push_back(day_chart("Swap in use", points_of(summary.swap, summary.day), summary, zone));
  const auto recorded =
      std::ranges::count_if(summary.days, [](const MachineDay& day) { return day.used.mean.has_value(); });
  if (recorded > 1) charts.push_back(week_chart(summary, zone));
  for (std::size_t i = 0; i < std::min(kMaxSmall, summary.categories.size()); ++i) {
    const Usage& of = summary.categories[i];
    charts.push_back(day_chart(of.name + " (PSS)", coarse(of.series, summary), summary, zone));
    charts.back().small = true;
  }
  return charts;
}

std::vector<std::string> summary_drawing(const DaySummary& summary, const Options& options, std::size_t columns) {
  ChartFrame frame{static_cast<int>(columns), 8, options.ascii, options.units, options.zone};
  const Day& day = summary.day;
  const std::int64_t width_ms = nice_width(day.end_ms - day.begin_ms, plot_columns(frame), kHourMs / 12);
  std::vector<GridBucket> buckets;
  for (std::int64_t from_ms = day.begin_ms; from_ms < day.end_ms; from_ms += width_ms) {
    const std::int64_t until_ms = std::min(from_ms + width_ms, day.end_ms);
    const SpanStats figures = span_stats_of(summary.used, from_ms, until_ms);
    GridBucket bucket{from_ms, until_ms, figures.covered_ms, {}, real(figures.mean), {}};
    if (figures.highest) bucket.max = figures.highest->value;
    if (figures.lowest) bucket.min = figures.lowest->value;
    buckets.push_back(bucket);
  }
  std::vector<std::string> lines = draw_chart(buckets, frame);
  if (!lines.empty()) lines.insert(lines.begin(), {"", "Memory in use: mean, range shaded"});
  if (!lines.empty()) lines.emplace_back("");
  return lines;
}

}  // namespace memoir::query
