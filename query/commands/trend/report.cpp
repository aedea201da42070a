#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "analysis/grouping.h"
#include "query/commands/trend/trend.h"
#include "query/history/tier.h"
#include "query/report/chart.h"
#include "query/report/format.h"

namespace memoir::query {

namespace {

constexpr std::int64_t kTableBuckets = 25;  // a day by hours, whenever it begins

// Heading (2), numbers (2), sparkline, axis and times (2), the table's header, coverage (2), and the prompt; on a
// narrow terminal the numbers take twice as much.
constexpr int kLinesBesideOne = 11;
constexpr std::size_t kNarrow = 75;
constexpr int kDivisionRows = 4;  // the least that a chart has

// A plot and a table that fill a terminal of so many lines.
struct Heights {
  int plot = 0;
  int table = 0;
};

// The percentiles have a line of their own.
bool has_room(const std::optional<Screen>& screen) {
  constexpr std::size_t enough = 24;
  return !screen || (screen->lines >= enough && screen->columns >= kNarrow);
}

Heights heights_for(const Screen& screen, std::size_t warnings) {
  const int lines = static_cast<int>(screen.lines) - kLinesBesideOne - (screen.columns < kNarrow ? 2 : 0) -
                    (has_room(screen) ? 1 : 0) - 2 * static_cast<int>(warnings);
  const int plot = lines >= 36 ? 16 : lines >= 24 ? 12 : lines >= 12 ? 8 : 4;
  return {plot, std::clamp(lines - plot, 3, static_cast<int>(kTableBuckets))};
}

std::int64_t rounded(double value) {
  return std::llround(value);
}

std::vector<Field> fields_of(const Series& series, const Summary& summary, std::optional<double> slope,
                             std::int64_t step_ms, const std::string& subject) {
  const auto round = [](std::optional<double> value) { return value ? rounded(*value) : Value(); };
  return {
      {"subject", "", Kind::text, subject},
      {"metric", "", Kind::text, series.metric},
      {"step_ms", "", Kind::duration, step_ms},
      {"min_kib", "", Kind::size, summary.min},
      {"mean_kib", "", Kind::size, round(summary.mean)},
      {"p50_kib", "", Kind::size, percentile_over_time(series.intervals, 50)},
      {"p95_kib", "", Kind::size, percentile_over_time(series.intervals, 95)},
      {"p99_kib", "", Kind::size, percentile_over_time(series.intervals, 99)},
      {"max_kib", "", Kind::size, summary.max},
      {"max_at_ms", "", Kind::time, summary.max ? summary.max_at_ms : Value()},
      {"max_until_ms", "", Kind::time, summary.max ? summary.max_until_ms : Value()},
      {"first_kib", "", Kind::size, summary.first},
      {"last_kib", "", Kind::size, summary.last},
      {"growth_kib", "", Kind::size, summary.growth()},
      {"slope_kib_per_day", "", Kind::size, round(slope)},
      {"covered_ms", "", Kind::duration, summary.covered_ms},
      {"processes", "", Kind::count, series.members > 0 ? series.members : Value()},
  };
}

std::string with_sign(std::int64_t kib, Units units) {
  return (kib < 0 ? "" : "+") + print_size(kib, units);
}

std::vector<std::string> number_lines(const Series& series, const Summary& summary, std::optional<double> slope,
                                      const Context& context, Tier tier) {
  const Options& options = context.options;
  if (!summary.mean) return {"No value is known in this range."};
  const auto size = [&options](std::int64_t kib) { return print_size(kib, options.units); };
  const std::string per_day = slope ? with_sign(rounded(*slope), options.units) + " a day" : "not known (too little)";
  const auto percentile = [&](double percent) {
    return size(percentile_over_time(series.intervals, percent).value_or(0));
  };
  const std::string mean = size(rounded(*summary.mean));
  std::vector<std::string> lines;
  if (summary.max) {
    lines.push_back(fmt::format("min {}, mean {}, max {} {}", size(*summary.min), mean, size(*summary.max),
                                print_reached(summary, tier, options.zone)));
  } else {
    lines.push_back(fmt::format("mean {}; min and max of this sum are not in the rollups", mean));
  }
  if (has_room(context.screen)) {
    lines.push_back(fmt::format("half of the time at most {}, 95% {}, 99% {}{}", percentile(50), percentile(95),
                                percentile(99), bucket_width(tier) ? " (by the means of the rollups)" : ""));
  }
  lines.push_back(fmt::format("first {}, last {} ({}); slope {}", size(*summary.first), size(*summary.last),
                              with_sign(*summary.growth(), options.units), per_day));
  return lines;
}

std::vector<GridBucket> chart_buckets(const TrendQuestion& question, const Series& series, const ChartFrame& frame) {
  const Range range = question.range;
  const std::int64_t width_ms = nice_width(range.to_ms - range.from_ms, plot_columns(frame), question.interval_ms);
  return cut_into_buckets(series.intervals, {range.from_ms, range.to_ms, width_ms, trend_origin(question, frame.zone)});
}

ChartFrame frame_of(const Context& context, int rows) {
  const Options& options = context.options;
  return {.columns = static_cast<int>(context.screen->columns),
          .rows = rows,
          .ascii = options.ascii,
          .units = options.units,
          .zone = options.zone};
}

std::string spark_of(const Context& context, const TrendQuestion& question, const Series& series) {
  std::vector<std::optional<double>> means;
  for (const GridBucket& bucket : chart_buckets(question, series, frame_of(context, kDivisionRows))) {
    means.push_back(bucket.mean);
  }
  return sparkline(means, context.options.ascii);
}

void add_warnings(const Series& series, Report& report) {
  const auto percent = [&series](std::int64_t part_ms) { return *share_percent(part_ms, series.exactness.member_ms); };
  if (series.exactness.inexact_ms > 0) {
    report.warnings.push_back(
        fmt::format("not exact for {} of the processes' time: PSS is estimated, or RSS where it could not be read",
                    print_percent(percent(series.exactness.inexact_ms))));
  }
  if (auto line = inexact_line(series.exactness.share)) report.warnings.push_back(*std::move(line));
  if (series.exactness.unknown_ms > 0) {
    report.warnings.push_back(fmt::format("not known for {} of the processes' time, and left out",
                                          print_percent(percent(series.exactness.unknown_ms))));
  }
}

}  // namespace

std::int64_t trend_origin(const TrendQuestion& question, Zone zone) {
  const Zone of = question.tier == Tier::day ? Zone::utc : zone;
  return moments_of(start_of_day(to_civil(question.range.from_ms, of)), of).front();
}

std::vector<std::string> draw_series(const Context& context, const TrendQuestion& question, const Series& series,
                                     int rows, bool with_times) {
  const ChartFrame frame = frame_of(context, rows);
  std::vector<std::string> lines = draw_chart(chart_buckets(question, series, frame), frame);
  if (!with_times && !lines.empty()) lines.pop_back();
  return lines;
}

Table bucket_table(const std::vector<SeriesBucket>& buckets) {
  using Row = SeriesBucket;
  const auto recorded = [](const GridBucket& bucket) {
    const std::int64_t width = bucket.until_ms - bucket.from_ms;
    // A range of one instant is covered by its tick.
    return width > 0 ? *share_percent(bucket.covered_ms, width) : bucket.mean ? 100.0 : 0.0;
  };
  const Columns<Row> columns{
      {{"from_ms", "FROM", Kind::time}, [](const Row& row) { return row.bucket.from_ms; }},
      {{"until_ms", "UNTIL", Kind::time, 0, Shown::machines}, [](const Row& row) { return row.bucket.until_ms; }},
      {{"min_kib", "MIN", Kind::size}, [](const Row& row) { return row.bucket.min; }},
      {{"mean_kib", "MEAN", Kind::size},
       [](const Row& row) { return row.bucket.mean ? rounded(*row.bucket.mean) : Value(); }},
      {{"max_kib", "MAX", Kind::size}, [](const Row& row) { return row.bucket.max; }},
      {{"covered_ms", "COVERED", Kind::duration, 0, Shown::machines},
       [](const Row& row) { return row.bucket.covered_ms; }},
      {{"recorded_percent", "RECORDED", Kind::percent, 1, Shown::people},
       [recorded](const Row& row) { return recorded(row.bucket); }},
      {for_machines("subject"), [](const Row& row) { return row.series->subject; }},
      {for_machines("metric"), [](const Row& row) { return row.series->metric; }},
  };
  return make_table(columns, buckets);
}

Status fill_trend(const Context& context, const TrendQuestion& question, const Series& series, Report& report) {
  const Options& options = context.options;
  const Range range = question.range;
  const bool draws = context.screen.has_value() && options.format == Format::table;
  add_warnings(series, report);
  const std::size_t said = report.warnings.size() + static_cast<std::size_t>(tier_notes(question.tier));
  const Heights heights = draws ? heights_for(*context.screen, said) : Heights{0, kTableBuckets};
  const std::int64_t step_ms =
      question.step_ms.value_or(nice_width(range.to_ms - range.from_ms, heights.table, question.interval_ms));
  const Grid grid{range.from_ms, range.to_ms, step_ms, trend_origin(question, options.zone)};
  if (bucket_count(grid) > kMostBuckets) {
    return malformed(
        fmt::format("--step: {} buckets of {} are too many: make it wider", bucket_count(grid), print_span(step_ms)));
  }
  const Summary summary = summarise(series.intervals);
  const auto slope = slope_per_day(series.intervals, range.from_ms, range.to_ms, question.interval_ms);
  report.title = series.title;
  report.facts = fields_of(series, summary, slope, step_ms, series.subject);
  report.drawing = number_lines(series, summary, slope, context, question.tier);
  if (draws && summary.mean) {
    report.drawing.push_back(spark_of(context, question, series));
    for (std::string& line : draw_series(context, question, series, heights.plot, true))
      report.drawing.push_back(std::move(line));
  }
  std::vector<SeriesBucket> rows;
  for (const GridBucket& bucket : cut_into_buckets(series.intervals, grid)) rows.push_back({&series, bucket});
  report.rows = bucket_table(rows);
  return Done{};
}

}  // namespace memoir::query
