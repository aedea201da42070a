#include <algorithm>

#include "query/commands/summary/summary.h"
#include "query/history/history.h"
#include "query/history/recording.h"
#include "query/history/tier.h"
#include "store/events.h"

namespace memoir::query {

namespace {

constexpr std::int64_t kMicroseconds = 1000;  // microseconds per millisecond

constexpr Metric kAvailable = metric_of(MachineField::mem_available);
constexpr Metric kTotal = metric_of(MachineField::mem_total);
constexpr Metric kSwapTotal = metric_of(MachineField::swap_total);
constexpr Metric kStalled = metric_of(MachineField::psi_some_total);

// Adds the time in which some task waited for memory, from its counter (Documentation/accounting/psi.rst).
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

MachineDay machine_day(SeriesByMetric& series, const std::vector<Increase>& stalls, const Day& day) {
  MachineDay of;
  of.day = day;
  of.used = span_stats_of(series[Metric::used], day.begin_ms, day.end_ms);
  of.available = span_stats_of(series[kAvailable], day.begin_ms, day.end_ms);
  of.swap = span_stats_of(series[Metric::swap_used], day.begin_ms, day.end_ms);
  of.recorded_ms = covered_ms_of(series[kTotal], day.begin_ms, day.end_ms);
  add_pressure(stalls, of);
  return of;
}

std::optional<std::int64_t> last_of(const std::vector<Interval>& series, std::int64_t until_ms) {
  std::optional<std::int64_t> last;
  for (const Interval& bucket : series) {
    if (bucket.from_ms < until_ms && bucket.last) last = bucket.last;
  }
  return last;
}

const Day& first_day(const DaySummary& summary) {
  return summary.is_week() ? summary.parts.front() : summary.day;
}

void fill_machine(SeriesByMetric& series, Zone zone, DaySummary& summary) {
  const std::vector<Increase> stalls = increases_of(series[kStalled]);
  for (int back = kDaysBefore; back >= 0; --back) {
    const Day day = back == 0 ? summary.day : day_before(first_day(summary), back, zone);
    summary.days.push_back(machine_day(series, stalls, day));
  }
  for (const Day& day : summary.parts) summary.week_days.push_back(machine_day(series, stalls, day));
  summary.total_kib = last_of(series[kTotal], summary.day.end_ms);
  summary.swap_total_kib = last_of(series[kSwapTotal], summary.day.end_ms);
  summary.used = std::move(series[Metric::used]);
  summary.swap = std::move(series[Metric::swap_used]);
}

Status load_activity(Reader& reader, DaySummary& summary) {
  for (std::vector<MachineDay>* days : {&summary.days, &summary.week_days}) {
    for (MachineDay& of : *days) {
      if (of.recorded_ms > 0) of.activity = TRY(memoir::load_activity(reader, {of.day.begin_ms, of.day.end_ms - 1}));
    }
  }
  auto buckets = TRY(load_activity_buckets(reader, {summary.day.begin_ms, summary.day.end_ms - 1}));
  summary.oom_kills = std::move(buckets).value_or(std::vector<ActivityBucket>());
  std::erase_if(summary.oom_kills, [](const ActivityBucket& of) { return of.activity.oom_kills.value_or(0) == 0; });
  return Done{};
}

// Sets the first and the last recorded time of the day. Returns false if nothing was recorded.
bool find_ends(DaySummary& summary) {
  for (const Interval& bucket : summary.used) {
    if (bucket.until_ms <= summary.day.begin_ms || bucket.from_ms >= summary.day.end_ms) continue;
    if (summary.first_ms == 0) summary.first_ms = std::max(bucket.from_ms, summary.day.begin_ms);
    summary.last_ms = std::min(bucket.until_ms, summary.day.end_ms);
  }
  return summary.last_ms > 0;
}

// Loads the recorder's starts, boots, cost and events.
Status load_recorder(const Context& context, DaySummary& summary) {
  RecorderDay& recorder = summary.recorder;
  const std::vector<StoredRun>& runs = context.runs;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (summary.day.holds(runs[i].started_ms)) {
      recorder.starts += 1;
      const bool booted = i == 0 || runs[i].boot.boot_id != runs[i - 1].boot.boot_id;
      if (booted && summary.day.holds(runs[i].boot.boot_ms)) recorder.boots_ms.push_back(runs[i].boot.boot_ms);
    }
    if (runs[i].stop_reason == "unclean" && summary.day.holds(runs[i].last_tick_ms.value_or(runs[i].started_ms))) {
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
  std::erase_if(recorder.events, [](const Event& event) { return event.kind == "degraded" || event.kind == "burst"; });
  return Done{};
}

}  // namespace

Result<std::optional<DaySummary>> load_summary(const Context& context, Day day, std::vector<Day> parts) {
  const Zone zone = context.options.zone;
  DaySummary summary;
  summary.day = day;
  summary.parts = std::move(parts);
  summary.over = std::max(context.now_ms, context.file.last_tick_ms) >= day.end_ms;
  const Day first = day_before(first_day(summary), kDaysBefore, zone);
  const Range range{day.begin_ms, day.end_ms - 1};
  summary.tier = TRY(finest_rollup(context.reader, day.begin_ms));
  if (summary.is_week()) summary.tier = std::max(summary.tier, Tier::hour);
  const Tier before = TRY(finest_rollup(context.reader, first.begin_ms));
  SeriesByMetric series =
      TRY(load_series(context.reader, {std::max(summary.tier, before),
                                       SubjectKind::machine,
                                       {},
                                       {first.begin_ms, range.to_ms},
                                       {Metric::used, kAvailable, Metric::swap_used, kTotal, kSwapTotal, kStalled},
                                       true}));
  fill_machine(series, zone, summary);
  if (!find_ends(summary)) return std::optional<DaySummary>();

  TRY(load_activity(context.reader, summary));
  TRY(load_recorder(context, summary));
  TRY(load_groups(context, summary));
  TRY(load_day_processes(context, summary));
  TRY(load_leaks(context, summary));
  TRY(find_attention(context, summary));
  return std::optional<DaySummary>(std::move(summary));
}

}  // namespace memoir::query
