#include <algorithm>

#include "query/commands/summary/summary.h"
#include "query/history/history.h"
#include "query/history/recording.h"
#include "query/history/tier.h"
#include "store/events.h"

namespace memoir::query {

namespace {

constexpr std::int64_t kMicroseconds = 1000;  // in a millisecond

// Of the machine.
using MachineSeries = std::map<Metric, std::vector<Interval>>;

constexpr Metric kAvailable = metric_of(MachineField::mem_available);
constexpr Metric kTotal = metric_of(MachineField::mem_total);
constexpr Metric kSwapTotal = metric_of(MachineField::swap_total);
constexpr Metric kOomKill = metric_of(MachineField::oom_kill);
constexpr Metric kStalled = metric_of(MachineField::psi_some_total);

Result<MachineSeries> load_machine(Reader& reader, Tier tier, Range range) {
  MachineSeries series;
  const std::vector<Metric> metrics{Metric::used, kAvailable, Metric::swap_used, kTotal,
                                    kSwapTotal,   kOomKill,   kStalled};
  TRY(reader.history({tier, SubjectKind::machine, {}, range, metrics, true},
                     [&series](const SubjectInterval& of) { series[of.metric].push_back(of.interval); }));
  for (auto& [metric, intervals] : series) std::ranges::stable_sort(intervals, {}, &Interval::from_ms);
  return series;
}

// Time in which some task waited for memory, by a counter of it (Documentation/accounting/psi.rst).
void add_pressure(const std::vector<Increase>& increases, MachineDay& of) {
  std::int64_t stalled_us = 0;
  std::int64_t covered_ms = 0;
  for (const Increase& bucket : increases) {
    if (bucket.from_ms < of.day.begin_ms || bucket.from_ms >= of.day.end_ms || bucket.covered_ms <= 0) continue;
    stalled_us += bucket.by;
    covered_ms += bucket.covered_ms;
    const double percent =
        100.0 * static_cast<double>(bucket.by) / static_cast<double>(bucket.covered_ms * kMicroseconds);
    if (of.worst_percent && percent <= *of.worst_percent) continue;
    of.worst_percent = std::min(percent, 100.0);
    of.worst = Extremum{bucket.by, bucket.from_ms, bucket.until_ms};
  }
  if (covered_ms == 0) return;
  of.stalled_percent =
      std::min(100.0, 100.0 * static_cast<double>(stalled_us) / static_cast<double>(covered_ms * kMicroseconds));
}

std::vector<Increase> kills_of(std::vector<Increase> increases, const Day& day) {
  std::erase_if(increases, [&day](const Increase& bucket) { return bucket.by <= 0 || !day.holds(bucket.from_ms); });
  return increases;
}

MachineDay machine_day(MachineSeries& series, const std::vector<Increase>& stalls, const std::vector<Increase>& kills,
                       const Day& day) {
  MachineDay of;
  of.day = day;
  of.used = figures_of(series[Metric::used], day.begin_ms, day.end_ms);
  of.available = figures_of(series[kAvailable], day.begin_ms, day.end_ms);
  of.swap = figures_of(series[Metric::swap_used], day.begin_ms, day.end_ms);
  of.recorded_ms = covered_ms_of(series[kTotal], day.begin_ms, day.end_ms);
  add_pressure(stalls, of);
  const bool counted = std::ranges::any_of(
      series[kOomKill], [&day](const Interval& bucket) { return bucket.last && day.holds(bucket.from_ms); });
  if (!counted) return of;
  of.oom_kills = 0;
  for (const Increase& kill : kills_of(kills, day)) *of.oom_kills += kill.by;
  return of;
}

std::optional<std::int64_t> last_of(const std::vector<Interval>& series, std::int64_t until_ms) {
  std::optional<std::int64_t> last;
  for (const Interval& bucket : series) {
    if (bucket.from_ms < until_ms && bucket.last) last = bucket.last;
  }
  return last;
}

void fill_machine(MachineSeries& series, Zone zone, DaySummary& summary) {
  const std::vector<Increase> stalls = increases_of(series[kStalled]);
  const std::vector<Increase> kills = increases_of(series[kOomKill]);
  for (int back = kDaysBefore; back >= 0; --back) {
    const Day day = back == 0 ? summary.day : day_before(summary.day, back, zone);
    summary.days.push_back(machine_day(series, stalls, kills, day));
  }
  summary.oom_kills = kills_of(kills, summary.day);
  summary.total_kib = last_of(series[kTotal], summary.day.end_ms);
  summary.swap_total_kib = last_of(series[kSwapTotal], summary.day.end_ms);
  summary.used = std::move(series[Metric::used]);
  summary.swap = std::move(series[Metric::swap_used]);
}

// When recording began and ended on the day. False: there is nothing of it.
bool find_ends(DaySummary& summary) {
  for (const Interval& bucket : summary.used) {
    if (bucket.until_ms <= summary.day.begin_ms || bucket.from_ms >= summary.day.end_ms) continue;
    if (summary.first_ms == 0) summary.first_ms = std::max(bucket.from_ms, summary.day.begin_ms);
    summary.last_ms = std::min(bucket.until_ms, summary.day.end_ms);
  }
  return summary.last_ms > 0;
}

// The recorder's starts, boots and cost.
Status load_recorder(const Context& context, DaySummary& summary) {
  RecorderDay& recorder = summary.recorder;
  const std::vector<StoredRun>& runs = context.runs;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (summary.day.holds(runs[i].started_ms)) {
      recorder.starts += 1;
      const bool booted = i == 0 || runs[i].boot.boot_id != runs[i - 1].boot.boot_id;
      if (booted && summary.day.holds(runs[i].boot.boot_ms)) recorder.boots_ms.push_back(runs[i].boot.boot_ms);
    }
    if (runs[i].end_reason == "unclean" && summary.day.holds(runs[i].last_tick_ms.value_or(runs[i].started_ms))) {
      recorder.unclean += 1;
    }
  }
  const Range range{summary.day.begin_ms, summary.day.end_ms - 1};
  const std::vector<StoredTick> ticks = TRY(context.reader.ticks(range));
  if (!ticks.empty()) {
    const auto run = std::ranges::find(runs, ticks.back().run_id, &StoredRun::id);
    const TickCosts costs = tick_costs(ticks, run == runs.end() ? 0 : run->interval_ms);
    recorder.core_percent = costs.core_percent;
    recorder.mean_cpu_us = costs.mean_cpu_us;
  }
  recorder.events = TRY(load_events(context.reader, range));
  std::erase_if(recorder.events, [](const Event& event) { return event.kind == "degraded"; });
  return Done{};
}

}  // namespace

Result<std::optional<DaySummary>> load_summary(const Context& context, Day day) {
  const Zone zone = context.options.zone;
  DaySummary summary;
  summary.day = day;
  summary.over = std::max(context.now_ms, context.file.last_tick_ms) >= day.end_ms;
  const Day first = day_before(day, kDaysBefore, zone);
  const Range range{day.begin_ms, day.end_ms - 1};
  summary.tier = TRY(finest_rollup(context.reader, day.begin_ms));
  const Tier before = TRY(finest_rollup(context.reader, first.begin_ms));
  MachineSeries series =
      TRY(load_machine(context.reader, std::max(summary.tier, before), {first.begin_ms, range.to_ms}));
  fill_machine(series, zone, summary);
  if (!find_ends(summary)) return std::optional<DaySummary>();

  const std::vector<HighWater> marks =
      TRY(context.reader.high_water(range, {SubjectKind::category, SubjectKind::identity}));
  TRY(load_recorder(context, summary));
  TRY(load_people(context, marks, summary));
  TRY(load_leaks(context, summary));
  return std::optional<DaySummary>(std::move(summary));
}

}  // namespace memoir::query
