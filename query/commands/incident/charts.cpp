#include <algorithm>
#include <fmt/format.h>

#include "analysis/series.h"
#include "query/commands/incident/incident.h"
#include "query/report/chart.h"
#include "query/state/process_columns.h"

namespace memoir::query {
namespace {

constexpr std::size_t kMostCharts = 4;
constexpr int kMostPoints = 120;  // of a chart
constexpr int kTimes = 3;         // below it, after the first

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
  for (const GridBucket& of : cut_into_buckets(series, grid_of(incident, kMostPoints))) {
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
  std::vector<Interval> series;
  TRY(reader.history({incident.before.tier(), kind, id, incident.range, {metric}, true},
                     [&series](const SubjectInterval& of) { series.push_back(of.interval); }));
  std::ranges::stable_sort(series, {}, &Interval::from_ms);
  return series;
}

// The largest process of each part that is told.
const StoredProcess* largest_of(const Incident& incident, const Part& part) {
  const StoredProcess* largest = nullptr;
  std::int64_t most = -1;
  for (const HeldProcess& process : incident.at.processes) {
    if (group_key(*process.process, "identity") != part.name) continue;
    const std::int64_t kib = process.kib[Metric::pss].value_or(0);
    if (kib <= most) continue;
    most = kib;
    largest = process.process;
  }
  return largest;
}

void draw(const Context& context, const Incident& incident, const std::vector<Interval>& used, Report& report) {
  if (context.options.format != Format::table || incident.range.to_ms <= incident.range.from_ms) return;
  const ChartFrame frame{context.screen ? static_cast<int>(context.screen->columns) : 80, 8, context.options.ascii,
                         context.options.units, context.options.zone};
  Section section{"chart", "Memory in use", {}};
  section.notes = draw_chart(cut_into_buckets(used, grid_of(incident, plot_columns(frame))), frame);
  if (!section.notes.empty()) report.sections.push_back(std::move(section));
}

}  // namespace

Status add_charts(const Context& context, const Incident& incident, Report& report) {
  const Zone zone = context.options.zone;
  const auto used = TRY(series_of(context.reader, incident, SubjectKind::machine, {}, Metric::used));
  draw(context, incident, used, report);
  if (context.options.format != Format::html) return Done{};
  report.charts.push_back(chart_of("Memory in use", used, incident, zone));
  const auto total = incident.at.machine.memory.get(MachineField::mem_total);
  if (total) {
    report.charts.back().limit = real(total);
    report.charts.back().limit_name = "all memory";
  }
  std::size_t drawn = 0;
  for (const Part& part : incident.parts) {
    const StoredProcess* const process = part.of_processes ? largest_of(incident, part) : nullptr;
    if (process == nullptr || drawn == kMostCharts) continue;
    ++drawn;
    const auto series = TRY(series_of(context.reader, incident, SubjectKind::process, process->id, Metric::rss));
    report.charts.push_back(
        chart_of(fmt::format("{} ({}), RSS", part.title, process->info.key.pid), series, incident, zone));
    report.charts.back().small = true;
  }
  return Done{};
}

}  // namespace memoir::query
