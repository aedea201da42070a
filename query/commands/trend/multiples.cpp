#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "query/commands/trend/trend.h"
#include "query/history/tier.h"

namespace memoir::query {

namespace {

constexpr std::int64_t kDefaultBuckets = 25;
constexpr int kLeastRows = 4;  // of a chart

// Heading, the times, the table's header, coverage and the prompt.
constexpr int kLinesBeside = 6;

struct Line {
  const Series* series;
  Summary summary;
  std::optional<std::int64_t> p95_kib;
  std::optional<double> slope;
};

Columns<Line> columns(Tier tier, Zone zone) {
  const auto round = [](std::optional<double> value) { return value ? std::int64_t{std::llround(*value)} : Value(); };
  Columns<Line> columns{
      {for_machines("metric"), [](const Line& line) { return line.series->metric; }},
      {{"min_kib", "MIN", Kind::size, 3}, [](const Line& line) { return line.summary.min; }},
      {{"mean_kib", "MEAN", Kind::size}, [round](const Line& line) { return round(line.summary.mean); }},
      {{"p95_kib", "95%", Kind::size, 2}, &Line::p95_kib},
      {{"max_kib", "MAX", Kind::size}, [](const Line& line) { return line.summary.max; }},
  };
  add_max_reached(columns, 4, tier, zone, [](const Line& line) -> const Summary& { return line.summary; });
  columns.add({"last_kib", "LAST", Kind::size}, [](const Line& line) { return line.summary.last; });
  columns.add({"slope_kib_per_day", "A DAY", Kind::size, 1}, [round](const Line& line) { return round(line.slope); });
  columns.add({"subject", "SUBJECT", Kind::text}, [](const Line& line) { return line.series->subject; });
  return columns;
}

void draw(const Context& context, const TrendQuestion& question, const std::vector<Series>& all, Report& report) {
  const int lines = static_cast<int>(context.screen->lines) - kLinesBeside - 2 * static_cast<int>(all.size()) -
                    2 * tier_notes(question.tier);
  const int rows = std::clamp(lines / static_cast<int>(all.size()) / kLeastRows * kLeastRows, kLeastRows, 8);
  for (const Series& series : all) {
    std::vector<std::string> chart = draw_series(context, question, series, rows, &series == &all.back());
    report.drawing.push_back(series.title + (chart.empty() ? ": no value is known in this range" : ""));
    for (std::string& line : chart) report.drawing.push_back(std::move(line));
  }
}

}  // namespace

Status fill_multiples(const Context& context, const TrendQuestion& question, const std::vector<Series>& all,
                      Report& report) {
  const Range range = question.range;
  const std::int64_t step_ms =
      question.step_ms.value_or(nice_width(range.to_ms - range.from_ms, kDefaultBuckets, question.interval_ms));
  const Grid grid{range.from_ms, range.to_ms, step_ms, trend_origin(question, context.options.zone)};
  if (bucket_count(grid) * static_cast<std::int64_t>(all.size()) > kMostBuckets) {
    return malformed("--step: the buckets are too many: make it wider");
  }
  std::vector<Line> lines;
  std::vector<SeriesBucket> buckets;
  for (const Series& series : all) {
    lines.push_back({&series, summarise(series.intervals), percentile_over_time(series.intervals, 95),
                     slope_per_day(series.intervals, range.from_ms, range.to_ms, question.interval_ms)});
    for (const GridBucket& bucket : cut_into_buckets(series.intervals, grid)) buckets.push_back({&series, bucket});
    if (series.exactness.inexact_ms > 0) {
      report.warnings.push_back(fmt::format("{}: not exact for a part of the time: estimated, or RSS", series.subject));
    }
    if (const auto line = inexact_line(series.exactness.share)) {
      report.warnings.push_back(fmt::format("{}: {}", series.subject, *line));
    }
  }
  report.title = fmt::format("{} series", all.size());
  report.facts = {{"step_ms", "", Kind::duration, step_ms}};
  Table numbers = make_table(columns(question.tier, context.options.zone), lines);
  if (context.options.format != Format::table) {
    report.rows = bucket_table(buckets);
    report.sections = {{"series", "", std::move(numbers)}};
    return Done{};
  }
  if (context.screen) draw(context, question, all, report);
  report.rows = std::move(numbers);
  return Done{};
}

}  // namespace memoir::query
