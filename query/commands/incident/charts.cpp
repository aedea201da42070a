#include <algorithm>
#include <fmt/format.h>

#include "analysis/series.h"
#include "analysis/span_stats.h"
#include "query/commands/incident/incident.h"
#include "query/report/chart.h"
#include "query/report/format.h"
#include "query/state/process_columns.h"

namespace memoir::query {
namespace {

constexpr std::size_t kMaxCharts = 3;  // number of charts of processes
constexpr int kMaxPoints = 120;        // number of points per chart
constexpr int kTimes = 3;              // number of times below the chart, besides the first

std::optional<double> real(std::optional<std::int64_t> value) {
  return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
}

Grid grid_of(const Incident& incident, int most) {
  const Range range = incident.range;
  return {range.from_ms, range.to_ms, nice_width(range.to_ms - range.from_ms, most, 1000)};
}

Chart chart_of(std::string title, const std::vector<Interval>& series, const Incident& incident, Zone zone) {
  Chart chart;
  chart.title = std::move(title);
  chart.from_ms = incident.range.from_ms;
  chart.to_ms = incident.range.to_ms;
  for (const GridBucket& of : cut_into_buckets(series, grid_of(incident, kMaxPoints))) {
    chart.points.push_back({of.from_ms, of.until_ms, real(of.min), of.mean, real(of.max)});
  }
  for (int i = 0; i <= kTimes; ++i) {
    const std::int64_t at_ms = chart.from_ms + (chart.to_ms - chart.from_ms) * i / kTimes;
    chart.times.emplace_back(at_ms, clock_time(at_ms, zone));
  }
  return chart;
}

Result<std::vector<Interval>> series_of(Reader& reader, const Incident& incident, SubjectKind kind,
                                        std::optional<std::int64_t> id, Metric metric) {
  return TRY(load_series(reader, {incident.before.tier(), kind, id, incident.range, {metric}, true}))[metric];
}

// Returns the process of a part with the largest PSS; nullptr if there is none.
const StoredProcess* largest_of(const Incident& incident, const Part& part) {
  const StoredProcess* largest = nullptr;
  std::int64_t most = -1;
  for (const ProcessUse& process : incident.at.processes) {
    if (group_key(*process.process, "identity") != part.name) continue;
    const std::int64_t kib = process.kib[Metric::pss].value_or(0);
    if (kib <= most) continue;
    most = kib;
    largest = process.process;
  }
  return largest;
}

// The series of the scope, its limit and its name.
struct ScopeSeries {
  std::string title = "Memory in use";
  std::vector<Interval> series;
  std::optional<std::int64_t> limit_kib = {};
  std::string limit_name = "all memory";
};

Result<ScopeSeries> scope_series(const Context& context, const Incident& incident) {
  ScopeSeries of;
  if (incident.scope && !incident.scope->usage.empty()) {
    of.title = "Usage of " + incident.scope->place;
    of.series = incident.scope->usage;
    of.limit_kib = incident.scope->limit_kib;
    of.limit_name = "limit";
    return of;
  }
  of.series = TRY(series_of(context.reader, incident, SubjectKind::machine, {}, Metric::used));
  of.limit_kib = incident.at.machine.memory.get(MachineField::mem_total);
  return of;
}

void draw(const Context& context, const Incident& incident, const ScopeSeries& of, Report& report) {
  if (context.options.format != Format::table || incident.range.to_ms <= incident.range.from_ms) return;
  ChartFrame frame{context.screen ? static_cast<int>(context.screen->columns) : 80, 8, context.options.ascii,
                   context.options.units, context.options.zone};
  if (incident.scope && of.limit_kib) frame.limit_kib = static_cast<double>(*of.limit_kib);
  if (incident.instant.is_kill()) frame.mark_ms = incident.instant.at_ms;
  Section section{"chart", of.title, {}};
  if (incident.scope && of.limit_kib)
    section.title += fmt::format(", limit {}", format_size(*of.limit_kib, context.options.units));
  if (frame.mark_ms)
    section.title += fmt::format(" ({} killed {})", frame.ascii ? "X" : "×", clock_time(*frame.mark_ms, frame.zone));
  section.notes = draw_chart(cut_into_buckets(of.series, grid_of(incident, plot_columns(frame))), frame);
  if (!section.notes.empty()) report.sections.push_back(std::move(section));
}

// Charts the share of the time in which some task waited for memory.
Result<std::optional<Chart>> pressure_chart(const Context& context, const Incident& incident) {
  const auto series =
      TRY(series_of(context.reader, incident, SubjectKind::machine, {}, metric_of(MachineField::psi_some_total)));
  std::optional<Chart> chart;
  for (const Increase& of : increases_of(series)) {
    if (of.covered_ms <= 0) continue;
    if (!chart) {
      chart = chart_of("Tasks waiting for memory (the machine)", {}, incident, context.options.zone);
      chart->points.clear();
      chart->kind = Kind::percent;
      chart->small = true;
    }
    const double percent = std::min(100.0, static_cast<double>(of.by) / 10 / static_cast<double>(of.covered_ms));
    chart->points.push_back({of.from_ms, of.until_ms, std::nullopt, percent, std::nullopt});
  }
  return chart;
}

}  // namespace

Status add_charts(const Context& context, const Incident& incident, Report& report) {
  const Zone zone = context.options.zone;
  const ScopeSeries scope = TRY(scope_series(context, incident));
  draw(context, incident, scope, report);
  if (context.options.format != Format::html) return Done{};
  Chart main = chart_of(scope.title, scope.series, incident, zone);
  main.value_name = incident.scope ? "usage" : "in use";
  main.limit = real(scope.limit_kib);
  if (main.limit) main.limit_name = scope.limit_name;
  if (incident.instant.is_kill()) main.marks.emplace_back(incident.instant.at_ms, "killed");
  report.charts.push_back(std::move(main));
  if (auto pressure = TRY(pressure_chart(context, incident))) report.charts.push_back(*std::move(pressure));
  std::size_t drawn = 0;
  const std::vector<Part>& parts =
      incident.scope && !incident.scope->parts.empty() ? incident.scope->parts : incident.parts;
  for (const Part& part : parts) {
    const StoredProcess* const process = part.of_processes ? largest_of(incident, part) : nullptr;
    if (process == nullptr || drawn == kMaxCharts) continue;
    ++drawn;
    const auto series = TRY(series_of(context.reader, incident, SubjectKind::process, process->id, Metric::rss));
    report.charts.push_back(
        chart_of(fmt::format("{} ({}), RSS", part.title, process->info.key.pid), series, incident, zone));
    report.charts.back().small = true;
  }
  return Done{};
}

}  // namespace memoir::query
