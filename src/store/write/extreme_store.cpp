#include "store/write/extreme_store.h"

#include <utility>

namespace memoir {
namespace {

// What the samples say already, or nearly so, is not worth a row.
Extremes beyond_mark(const Extremes& hwm, const ProcessSample& last) {
  constexpr std::int64_t negligible_kib = 256;
  const std::int64_t known_kib = high_water_kib(last.memory).value_or(0);
  return hwm.highest && hwm.highest->kib > known_kib + negligible_kib ? hwm : Extremes();
}

MarkTime time_of(const SeenSize& seen, const TickContext& context) {
  return {seen.at_ms, seen.after_ms.value_or(context.time.before_ms), seen.by};
}

}  // namespace

void ExtremeStore::store(const TickExtremes& extremes, SampleRows& samples, const TickContext& context,
                         WriterState& state) {
  const auto insert = [&](SubjectKind kind, std::int64_t id, Metric metric, const Extremes& seen) {
    samples.insert(context.tick_id, kind, id, metric, seen, context.time.at_ms);
  };
  insert(SubjectKind::machine, 0, Metric::used, extremes.used);
  insert(SubjectKind::machine, 0, metric_of(MachineField::mem_available), extremes.available);
  for (const CategoryExtremes& of : extremes.categories) {
    if (const LiveCategory* live = find_sorted(state.categories, of.category, &LiveCategory::name))
      insert(SubjectKind::category, live->id, Metric::rss, of.rss);
  }
  strangers_.clear();
  for (const ProcessExtremes& of : extremes.processes) {
    const LiveProcess* const live = find_sorted(state.processes, of.process, &LiveProcess::key);
    if (live == nullptr) {
      strangers_.push_back(of);
      continue;
    }
    insert(SubjectKind::process, live->id, Metric::rss, of.rss);
    insert(SubjectKind::process, live->id, Metric::anon, of.anon);
    insert(SubjectKind::process, live->id, Metric::hwm, beyond_mark(of.hwm, live->last));
  }
}

void ExtremeStore::mark(const TickExtremes& extremes, std::int64_t day_ms, const TickContext& context,
                        WriterState& state) {
  const auto see = [&](SubjectKind kind, Metric metric, const std::optional<SeenSize>& seen, Marks& marks) {
    if (!seen || day_of(seen->at_ms) != day_ms) return;
    const MarkTime time = time_of(*seen, context);
    marks.see(kind, mark_value(kind, metric, seen->kib), time, time);
  };
  see(SubjectKind::machine, Metric::used, extremes.used.highest, state.machine_marks);
  see(SubjectKind::machine, metric_of(MachineField::mem_available), extremes.available.lowest, state.machine_marks);
  for (const CategoryExtremes& of : extremes.categories) {
    if (LiveCategory* live = find_sorted(state.categories, of.category, &LiveCategory::name))
      see(SubjectKind::category, Metric::rss, of.rss.highest, live->marks);
  }
  for (const ProcessExtremes& of : extremes.processes) {
    if (LiveProcess* live = find_sorted(state.processes, of.process, &LiveProcess::key))
      see(SubjectKind::process, Metric::hwm, beyond_mark(of.hwm, live->last).highest, live->marks);
  }
}

void ExtremeStore::store_cgroups(const TickExtremes& extremes, SampleRows& samples, ProcessRows& names,
                                 const TickContext& context, WriterState& state) {
  for (const CgroupExtremes& of : extremes.cgroups) {
    const std::int64_t id = names.cgroup_id(of.path, context.time.at_ms);
    for (const auto& [metric, seen] : {std::pair(Metric::usage, &of.usage), std::pair(Metric::usage_swap, &of.swap)}) {
      if (!seen->highest) continue;
      samples.insert(context.tick_id, SubjectKind::cgroup, id, metric, *seen, context.time.at_ms);
      const MarkTime time = time_of(*seen->highest, context);
      marked_cgroup(state, id).marks.see(SubjectKind::cgroup,
                                         mark_value(SubjectKind::cgroup, metric, seen->highest->kib), time, time);
    }
  }
}

void ExtremeStore::store_strangers(std::int64_t boot_id, SampleRows& samples, ProcessRows& processes, MarkRows& marks,
                                   const TickContext& context, WriterState& state) {
  for (const ProcessExtremes& of : strangers_) {
    const auto row = of.hwm.highest ? processes.find(boot_id, of.process) : std::nullopt;
    if (!row) continue;
    const SeenSize& peak = *of.hwm.highest;
    samples.insert(context.tick_id, SubjectKind::process, row->id, Metric::hwm, of.hwm, context.time.at_ms);
    EndedMarks ended{row->id, {}};
    ended.marks.one_day = true;
    const MarkTime time = time_of(peak, context);
    ended.marks.see(SubjectKind::process, mark_value(SubjectKind::process, Metric::hwm, peak.kib), time, time);
    if (day_of(peak.at_ms) == day_of(context.time.at_ms)) {
      state.ended.push_back(ended);
    } else {
      marks.flush(SubjectKind::process, ended.id, day_of(peak.at_ms), ended.marks);
    }
  }
}

}  // namespace memoir
