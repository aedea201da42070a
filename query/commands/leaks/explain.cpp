#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "query/commands/leaks/leaks.h"
#include "query/report/chart.h"

namespace memoir::query {

namespace {

constexpr int kChartRows = 12;
constexpr int kPipeColumns = 80;

// Combines the series into as many buckets as fit.
std::vector<GridBucket> joined(const LeakSeries& series, int columns) {
  const std::int64_t from_ms = series.buckets.front().from_ms;
  const std::int64_t until_ms = series.buckets.back().from_ms + series.width_ms;
  const std::int64_t count = (until_ms - from_ms) / series.width_ms;
  const std::int64_t width_ms = series.width_ms * ((count + columns - 1) / columns);
  std::vector<GridBucket> buckets;
  for (std::int64_t at_ms = from_ms; at_ms < until_ms; at_ms += width_ms)
    buckets.push_back({at_ms, at_ms + width_ms, 0, {}, {}, {}});
  for (const LeakBucket& part : series.buckets) {
    GridBucket& bucket = buckets[static_cast<std::size_t>((part.from_ms - from_ms) / width_ms)];
    const auto before = static_cast<double>(bucket.covered_ms);
    const auto more = static_cast<double>(part.covered_ms);
    if (more <= 0) continue;
    bucket.mean = (bucket.mean.value_or(0) * before + part.mean * more) / (before + more);
    bucket.min =
        std::min(bucket.min.value_or(std::llround(part.min)), static_cast<std::int64_t>(std::llround(part.min)));
    bucket.max = std::max(bucket.max.value_or(0), static_cast<std::int64_t>(std::llround(part.max)));
    bucket.covered_ms += part.covered_ms;
  }
  return buckets;
}

void draw(const LeakRow& row, const Options& options, const std::optional<Screen>& screen, Report& report) {
  if (row.series.buckets.empty()) return;
  ChartFrame frame{screen ? static_cast<int>(screen->columns) : kPipeColumns, kChartRows, options.ascii, options.units,
                   options.zone};
  frame.plain = row.metric.unit != LeakUnit::kib ? 1 : 0;
  const LeakFinding& found = row.finding;
  if (!found.floors.empty()) {
    frame.line = ChartLine{found.line_from.at_ms, found.line_from.value, found.line_to.at_ms, found.line_to.value};
  }
  for (std::string& line : draw_chart(joined(row.series, plot_columns(frame)), frame)) {
    report.drawing.push_back(std::move(line));
  }
}

Table gate_table(const LeakFinding& found) {
  const Columns<LeakGate> columns{
      {{"gate", "GATE"}, &LeakGate::name},
      {data_column("value", Kind::count), &LeakGate::value},
      {data_column("threshold", Kind::count), &LeakGate::threshold},
      {display_column("VALUE"), [](const LeakGate& gate) { return fmt::format("{:.4g}", gate.value); }},
      {display_column("NEEDS"), [](const LeakGate& gate) { return fmt::format("{:.4g}", gate.threshold); }},
      {{"passed", "PASSED"}, &LeakGate::passed},
      {{"meaning", "TEST", Kind::sentence, 0, Shown::everywhere, true}, &LeakGate::meaning},
  };
  return make_table(columns, found.gates);
}

Table point_table(const std::vector<LeakPoint>& points, const LeakRow& row, const Options& options, const char* name) {
  const Columns<LeakPoint> columns{
      {{"at_ms", "AT", Kind::time}, &LeakPoint::at_ms},
      {data_column(name, Kind::count), &LeakPoint::value},
      {display_column("FLOOR"),
       [&row, &options](const LeakPoint& point) { return format_amount(point.value, row.metric.unit, options.units); }},
  };
  return make_table(columns, points);
}

}  // namespace

void explain_leak(const LeakRow& row, const Options& options, const std::optional<Screen>& screen, Report& report) {
  const LeakFinding& found = row.finding;
  if (options.explain && options.format == Format::table) draw(row, options, screen, report);
  const bool shown = options.explain;
  report.sections.push_back({"evidence", shown ? "Gates" : "", gate_table(found)});
  report.sections.push_back({"floors", shown ? "Floors" : "", point_table(found.floors, row, options, "kib")});
  report.sections.push_back({"steps", shown ? "Removed jumps" : "", point_table(found.steps, row, options, "by_kib")});
  report.sections.push_back({"line", "", point_table({found.line_from, found.line_to}, row, options, "kib")});
  if (!shown) return;
  if (found.exhaustion) {
    report.notes.push_back(fmt::format("The nearest limit is {}, with {} left.", found.exhaustion->limit,
                                       format_amount(found.exhaustion->room, row.metric.unit, options.units)));
  }
  if (found.worth) {
    report.notes.push_back(fmt::format("In a test on {}, half of which leak, {} of 100 such verdicts were right.",
                                       found.worth->measured_on, found.worth->right));
  }
  for (const std::string& sentence : found.would_change)
    report.notes.push_back("What would change the verdict: " + sentence);
}

}  // namespace memoir::query
