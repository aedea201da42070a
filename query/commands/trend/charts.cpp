#include "query/commands/trend/trend.h"
#include "query/report/format.h"

namespace memoir::query {

// Returns the chart of a series for HTML.
Chart trend_chart(const TrendQuery& question, const Series& series, Zone zone) {
  constexpr int max_points = 200;
  constexpr int times = 4;  // number of times below the chart, without the first
  const Range range = question.range;
  const double parts = series.metric == kPressure ? static_cast<double>(kPerPercent) : 1;
  const auto real = [parts](std::optional<std::int64_t> value) {
    return value ? std::optional(static_cast<double>(*value) / parts) : std::nullopt;
  };
  Chart chart;
  chart.title = series.title;
  chart.kind = series.metric == kPressure ? Kind::percent : Kind::size;
  chart.from_ms = range.from_ms;
  chart.to_ms = range.to_ms;
  const std::int64_t width_ms = nice_width(range.to_ms - range.from_ms, max_points, question.interval_ms);
  for (const GridBucket& of : cut_into_buckets(series.intervals, {range.from_ms, range.to_ms, width_ms})) {
    const auto mean = of.mean ? std::optional(*of.mean / parts) : std::nullopt;
    chart.points.push_back({of.from_ms, of.until_ms, real(of.min), mean, real(of.max)});
  }
  const bool days = range.to_ms - range.from_ms > 2 * kDayLengthMs;
  for (int i = 0; i <= times; ++i) {
    const std::int64_t at_ms = chart.from_ms + (chart.to_ms - chart.from_ms) * i / times;
    chart.times.emplace_back(at_ms, days ? format_date(at_ms, zone) : format_time_of_day(at_ms, zone));
  }
  return chart;
}

}  // namespace memoir::query
