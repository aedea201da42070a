#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/grouping.h"
#include "query/commands/trend/trend.h"
#include "query/history/tier.h"
#include "query/report/chart.h"
#include "query/report/format.h"

namespace memoir::query {

namespace {

constexpr std::int64_t kTableBuckets = 25;  // number of hours that a day touches if it starts within an hour

// Heading (2), numbers (2), sparkline, axis and times (2), the table's header, coverage (2), and the prompt. On a
// narrow terminal the numbers need twice as many lines.
constexpr int kLinesBesideOne = 11;
constexpr std::size_t kNarrow = 75;
constexpr int kDivisionRows = 4;  // minimum height of a chart

// Heights of the plot and of the table, in lines.
struct Heights {
  int plot = 0;
  int table = 0;
};

// Returns whether there is space for the percentiles, which need another line.
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

bool is_pressure(std::string_view metric) {
  return metric == kPressure;
}

// Names, values and texts of a metric: sizes, or shares of the time.
struct Measure {
  bool share = false;
  Units units = Units::automatic;

  Kind kind() const { return share ? Kind::percent : Kind::size; }
  std::string name(std::string_view what) const { return fmt::format("{}_{}", what, share ? "percent" : "kib"); }
  Value value(std::optional<double> of) const {
    if (!of) return Value();
    return share ? Value(*of / kPerPercent) : Value(rounded(*of));
  }
  Value value(std::optional<std::int64_t> of) const {
    return of && share ? Value(static_cast<double>(*of) / kPerPercent) : Value(of);
  }
  std::string text(double of) const {
    return share ? format_percent(of / kPerPercent) : format_size(rounded(of), units);
  }
  std::string change(double by) const {
    return share ? fmt::format("{:+.1f} points", by / kPerPercent) : format_change(rounded(by), units);
  }
};

Measure measure_of(const Series& series, const Options& options = {}) {
  return {is_pressure(series.metric), options.units};
}

std::vector<Field> fields_of(const Series& series, const Summary& summary, std::optional<double> slope,
                             std::int64_t step_ms, const std::string& subject) {
  const Measure measure = measure_of(series);
  const auto size = [&measure](std::string_view what, auto value) {
    return Field{measure.name(what), "", measure.kind(), measure.value(value)};
  };
  std::vector<Field> fields{
      {"subject", "", Kind::text, subject},
      {"metric", "", Kind::text, series.metric},
      {"step_ms", "", Kind::duration, step_ms},
      size("min", summary.min),
      size("mean", summary.mean),
      size("p50", percentile_over_time(series.intervals, 50)),
      size("p95", percentile_over_time(series.intervals, 95)),
      size("p99", percentile_over_time(series.intervals, 99)),
      size("max", summary.max),
      {"max_at_ms", "", Kind::time, summary.max ? summary.max_at_ms : Value()},
      {"max_until_ms", "", Kind::time, summary.max ? summary.max_until_ms : Value()},
      size("first", summary.first),
      size("last", summary.last),
  };
  if (!measure.share) {
    fields.push_back(size("growth", summary.growth()));
    fields.push_back({"slope_kib_per_day", "", Kind::size, measure.value(slope)});
  }
  fields.push_back({"covered_ms", "", Kind::duration, summary.covered_ms});
  fields.push_back({"processes", "", Kind::count, series.members > 0 ? series.members : Value()});
  return fields;
}

std::string with_sign(std::int64_t kib, Units units) {
  return (kib < 0 ? "" : "+") + format_size(kib, units);
}

std::vector<std::string> number_lines(const Series& series, const Summary& summary, std::optional<double> slope,
                                      const Context& context, Tier tier) {
  const Options& options = context.options;
  if (!summary.mean) return {"No value is known in this range."};
  const Measure measure = measure_of(series, options);
  const auto size = [&measure](std::int64_t value) { return measure.text(static_cast<double>(value)); };
  const std::string per_day =
      slope ? with_sign(rounded(*slope), options.units) + " a day" : "unknown (too little data)";
  const auto percentile = [&](double percent) {
    return size(percentile_over_time(series.intervals, percent).value_or(0));
  };
  const std::string mean = measure.text(*summary.mean);
  std::vector<std::string> lines;
  if (summary.max) {
    lines.push_back(fmt::format("min {}, mean {}, max {} {}", size(*summary.min), mean, size(*summary.max),
                                format_reached(summary, tier, options.zone)));
  } else {
    lines.push_back(fmt::format("mean {}; min and max of this sum are not in the rollups", mean));
  }
  if (has_room(context.screen)) {
    lines.push_back(fmt::format("percentiles {}: 50% {}, 95% {}, 99% {}",
                                holds_groups(tier) ? "of the rollups' means" : "over time", percentile(50),
                                percentile(95), percentile(99)));
  }
  if (measure.share) return lines;
  lines.push_back(fmt::format("first {}, last {} ({}); slope {}", size(*summary.first), size(*summary.last),
                              with_sign(*summary.growth(), options.units), per_day));
  return lines;
}

// Returns the origin of the buckets. Days start at midnight, and hours at full hours, even if the zone is half an hour
// off. With buckets of a UTC day, days are UTC days.
std::int64_t trend_origin(const TrendQuery& question, Zone zone) {
  const Zone of = question.tier == Tier::day ? Zone::utc : zone;
  return moments_of(start_of_day(to_civil(question.range.from_ms, of)), of).front();
}

std::vector<GridBucket> chart_buckets(const TrendQuery& question, const Series& series, const ChartFrame& frame) {
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

std::string spark_of(const Context& context, const TrendQuery& question, const Series& series) {
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
        fmt::format("not exact for {} of the processes' time: PSS is estimated, or RSS where PSS could not be read",
                    format_percent(percent(series.exactness.inexact_ms))));
  }
  if (auto line = inexact_line(series.exactness.share)) report.warnings.push_back(*std::move(line));
  if (series.exactness.unknown_ms > 0) {
    report.warnings.push_back(fmt::format("not known for {} of the processes' time, and left out",
                                          format_percent(percent(series.exactness.unknown_ms))));
  }
}

// Adds the mean and the maximum of the range of --against.
void add_other(const Series& other, const Measure& measure, const Summary& own, const Options& options,
               Report& report) {
  const Summary summary = summarise(other.intervals);
  const auto add = [&](std::string_view what, auto value) {
    report.facts.push_back({measure.name(what), "", measure.kind(), measure.value(value)});
  };
  add("against_min", summary.min);
  add("against_mean", summary.mean);
  add("against_max", summary.max);
  const char* mark = options.ascii ? "*" : "●";
  if (!summary.mean) {
    report.drawing.emplace_back("before: no value is known in the range of --against");
    return;
  }
  const double before = *summary.mean;
  const std::string change = own.mean ? "; the mean changed by " + measure.change(*own.mean - before) : "";
  const std::string max = summary.max ? ", max " + measure.text(static_cast<double>(*summary.max)) : "";
  report.drawing.push_back(fmt::format("before ({}): mean {}{}{}", mark, measure.text(before), max, change));
}

// Notes a peak of RSS above the shown series.
void note_spike(const Series& series, const TrendQuery& question, const Options& options, Report& report) {
  if (!series.rss_spike) return;
  const std::int64_t max_kib = *series.rss_spike->max;
  report.notes.push_back(fmt::format("RSS of {} reached {} {}: PSS is not read between ticks (--by rss shows it).",
                                     series.subject, format_size(max_kib, options.units),
                                     format_reached(*series.rss_spike, question.tier, options.zone)));
}

// Returns a chart of the series, as wide as the terminal. The times are omitted if another chart below has them.
std::vector<std::string> draw_series(const Context& context, const TrendQuery& question, const Series& series, int rows,
                                     bool with_times, const Series* other = nullptr) {
  ChartFrame frame = frame_of(context, rows);
  std::vector<GridBucket> marks;
  if (other != nullptr) marks = chart_buckets(question, *other, frame);
  frame.other = marks;
  if (is_pressure(series.metric)) frame.plain = kPerPercent;
  std::vector<std::string> lines = draw_chart(chart_buckets(question, series, frame), frame);
  if (!with_times && !lines.empty()) lines.pop_back();
  return lines;
}

constexpr std::int64_t kDefaultBuckets = 25;
constexpr int kMinRows = 4;  // minimum height of a chart

// Heading, the times, the table's header, coverage and the prompt.
constexpr int kLinesBesideSeveral = 6;

struct SeriesLine {
  const Series* series;
  Summary summary;
  std::optional<std::int64_t> p95_kib;
  std::optional<double> slope;
};

Columns<SeriesLine> series_columns(Tier tier, Zone zone) {
  const auto round = [](std::optional<double> value) { return value ? std::int64_t{std::llround(*value)} : Value(); };
  Columns<SeriesLine> columns{
      {data_column("metric"), [](const SeriesLine& line) { return line.series->metric; }},
      {{"min_kib", "MIN", Kind::size, 4}, [](const SeriesLine& line) { return line.summary.min; }},
      {{"mean_kib", "MEAN", Kind::size}, [round](const SeriesLine& line) { return round(line.summary.mean); }},
      {{"p95_kib", "95%", Kind::size, 3}, &SeriesLine::p95_kib},
      {{"max_kib", "MAX", Kind::size}, [](const SeriesLine& line) { return line.summary.max; }},
  };
  add_max_reached(columns, 5, tier, zone, [](const SeriesLine& line) -> const Summary& { return line.summary; });
  columns.add({"last_kib", "LAST", Kind::size}, [](const SeriesLine& line) { return line.summary.last; });
  columns.add({"slope_kib_per_day", "/DAY", Kind::size, 1},
              [round](const SeriesLine& line) { return round(line.slope); });
  columns.add({"subject", "SUBJECT", Kind::text}, [](const SeriesLine& line) { return line.series->subject; });
  return columns;
}

void draw(const Context& context, const TrendQuery& question, const std::vector<Series>& all, Report& report) {
  const int lines = static_cast<int>(context.screen->lines) - kLinesBesideSeveral - 2 * static_cast<int>(all.size()) -
                    2 * tier_notes(question.tier);
  const int rows = std::clamp(lines / static_cast<int>(all.size()) / kMinRows * kMinRows, kMinRows, 8);
  for (const Series& series : all) {
    std::vector<std::string> chart = draw_series(context, question, series, rows, &series == &all.back());
    report.drawing.push_back(series.title + (chart.empty() ? ": no value is known in this range" : ""));
    for (std::string& line : chart) report.drawing.push_back(std::move(line));
  }
}

}  // namespace

Table bucket_table(const std::vector<SeriesBucket>& buckets, std::string_view metric, const Coverage& coverage,
                   bool against) {
  using Row = SeriesBucket;
  // Includes time in which the subject did not exist.
  const auto recorded = [&coverage](const GridBucket& bucket) {
    const std::int64_t width = bucket.until_ms - bucket.from_ms;
    // A range of one instant is covered by its tick.
    if (width <= 0) return bucket.mean ? 100.0 : 0.0;
    return *share_percent(recorded_within(coverage, bucket.from_ms, bucket.until_ms), width);
  };
  const Measure measure{is_pressure(metric), {}};
  const auto size = [&measure](std::string_view what, std::string header) {
    return Column{measure.name(what), std::move(header), measure.kind()};
  };
  Columns<Row> columns{
      {{"from_ms", "FROM", Kind::time}, [](const Row& row) { return row.bucket.from_ms; }},
      {{"until_ms", "UNTIL", Kind::time, 0, Shown::machines}, [](const Row& row) { return row.bucket.until_ms; }},
      {size("min", "MIN"), [measure](const Row& row) { return measure.value(row.bucket.min); }},
      {size("mean", "MEAN"), [measure](const Row& row) { return measure.value(row.bucket.mean); }},
      {size("max", "MAX"), [measure](const Row& row) { return measure.value(row.bucket.max); }},
      {data_column("max_at_ms", Kind::time), [](const Row& row) { return row.bucket.max_at_ms; }},
      {{"covered_ms", "COVERED", Kind::duration, 0, Shown::machines},
       [](const Row& row) { return row.bucket.covered_ms; }},
      {{"recorded_percent", "RECORDED", Kind::percent, 1, Shown::people},
       [recorded](const Row& row) { return recorded(row.bucket); }},
      {data_column("subject"), [](const Row& row) { return row.series->subject; }},
      {data_column("metric"), [](const Row& row) { return row.series->metric; }},
  };
  if (against) {
    columns.add(size("against_mean", "MEAN BEFORE"),
                [measure](const Row& row) { return measure.value(row.other ? row.other->mean : std::nullopt); });
    Column change = size("change", "CHANGE");
    if (!measure.share) change.kind = Kind::change;
    columns.add(std::move(change), [measure](const Row& row) {
      const bool known = row.other && row.other->mean && row.bucket.mean;
      if (!known) return Value();
      const double points = *row.bucket.mean - *row.other->mean;
      return measure.share ? measure.value(std::optional(points))
                           : Value(rounded(*row.bucket.mean) - rounded(*row.other->mean));
    });
  }
  return make_table(columns, buckets);
}

Status fill_trend(const Context& context, const TrendQuery& question, const Series& series,
                  const std::optional<Series>& other, Report& report) {
  const Options& options = context.options;
  const Range range = question.range;
  const bool draws = context.screen.has_value() && options.format == Format::table;
  add_warnings(series, report);
  const std::size_t said = report.warnings.size() + static_cast<std::size_t>(tier_notes(question.tier));
  const Heights heights = draws ? heights_for(*context.screen, said) : Heights{0, kTableBuckets};
  const std::int64_t step_ms =
      question.step_ms.value_or(nice_width(range.to_ms - range.from_ms, heights.table, question.interval_ms));
  const Grid grid{range.from_ms, range.to_ms, step_ms, trend_origin(question, options.zone)};
  if (bucket_count(grid) > kMaxBuckets) {
    return malformed(
        fmt::format("--step: {} buckets of {} are too many: make it wider", bucket_count(grid), format_span(step_ms)));
  }
  const Summary summary = summarise(series.intervals);
  const auto slope = slope_per_day(series.intervals, range.from_ms, range.to_ms, question.interval_ms);
  report.title = series.title;
  report.facts = fields_of(series, summary, slope, step_ms, series.subject);
  if (series.rss_spike) report.facts.push_back({"rss_max_kib", "", Kind::size, series.rss_spike->max});
  note_spike(series, question, options, report);
  report.drawing = number_lines(series, summary, slope, context, question.tier);
  if (options.format == Format::html) {
    report.lead = fmt::format("{}.", fmt::join(report.drawing, "; "));
    report.charts = {trend_chart(question, series, options.zone)};
  }
  if (other) add_other(*other, measure_of(series, options), summary, options, report);
  if (draws && summary.mean) {
    report.drawing.push_back(spark_of(context, question, series));
    const Series* const marks = other ? &*other : nullptr;
    for (std::string& line : draw_series(context, question, series, heights.plot, true, marks))
      report.drawing.push_back(std::move(line));
  }
  std::vector<SeriesBucket> rows;
  for (const GridBucket& bucket : cut_into_buckets(series.intervals, grid)) rows.push_back({&series, bucket});
  if (other) {
    const std::vector<GridBucket> buckets = cut_into_buckets(other->intervals, grid);
    for (std::size_t i = 0; i < std::min(rows.size(), buckets.size()); ++i) rows[i].other = buckets[i];
  }
  report.rows = bucket_table(rows, series.metric, *report.coverage, other.has_value());
  return Done{};
}

Status fill_multiples(const Context& context, const TrendQuery& question, const std::vector<Series>& all,
                      Report& report) {
  const Range range = question.range;
  const std::int64_t step_ms =
      question.step_ms.value_or(nice_width(range.to_ms - range.from_ms, kDefaultBuckets, question.interval_ms));
  const Grid grid{range.from_ms, range.to_ms, step_ms, trend_origin(question, context.options.zone)};
  if (bucket_count(grid) * static_cast<std::int64_t>(all.size()) > kMaxBuckets) {
    return malformed("--step: the buckets are too many: make it wider");
  }
  std::vector<SeriesLine> lines;
  std::vector<SeriesBucket> buckets;
  for (const Series& series : all) {
    lines.push_back({&series, summarise(series.intervals), percentile_over_time(series.intervals, 95),
                     slope_per_day(series.intervals, range.from_ms, range.to_ms, question.interval_ms)});
    for (const GridBucket& bucket : cut_into_buckets(series.intervals, grid)) buckets.push_back({&series, bucket});
    note_spike(series, question, context.options, report);
    if (context.options.format == Format::html)
      report.charts.push_back(trend_chart(question, series, context.options.zone));
    if (series.exactness.inexact_ms > 0) {
      report.warnings.push_back(fmt::format(
          "{}: not exact for a part of the time, because PSS is estimated or could not be read", series.subject));
    }
    if (const auto line = inexact_line(series.exactness.share)) {
      report.warnings.push_back(fmt::format("{}: {}", series.subject, *line));
    }
  }
  report.title = fmt::format("{} series", all.size());
  report.facts = {{"step_ms", "", Kind::duration, step_ms}};
  Table numbers = make_table(series_columns(question.tier, context.options.zone), lines);
  if (is_data_format(context.options.format)) {
    report.rows = bucket_table(buckets, {}, *report.coverage);
    report.sections = {{"series", "", std::move(numbers)}};
    return Done{};
  }
  if (context.screen && context.options.format == Format::table) draw(context, question, all, report);
  report.rows = std::move(numbers);
  return Done{};
}

}  // namespace memoir::query
