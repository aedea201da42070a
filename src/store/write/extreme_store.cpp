#include "store/write/extreme_store.h"

#include <algorithm>
#include <utility>

namespace memoir {
namespace {

constexpr std::int64_t kNegligibleKib = 256;

// Returns the extremes of VmHWM; none if the samples already have that peak, or nearly.
Extremes beyond_mark(const Extremes& hwm, const ProcessSample& last) {
  const std::int64_t known_kib = high_water_kib(last.memory).value_or(0);
  return hwm.highest && hwm.highest->kib > known_kib + kNegligibleKib ? hwm : Extremes();
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
  const auto raise = [&](SubjectKind kind, std::int64_t id, Metric metric, const std::optional<SeenSize>& seen) {
    if (seen) state.marks.observe(kind, id, metric, seen->kib, time_of(*seen, context));
  };
  constexpr Metric available = metric_of(MachineField::mem_available);
  insert(SubjectKind::machine, 0, Metric::used, extremes.used);
  raise(SubjectKind::machine, 0, Metric::used, extremes.used.highest);
  insert(SubjectKind::machine, 0, available, extremes.available);
  raise(SubjectKind::machine, 0, available, extremes.available.lowest);
  for (const CategoryExtremes& of : extremes.categories) {
    const LiveCategory* const live = find_sorted(state.categories, of.category, &LiveCategory::name);
    if (live == nullptr) continue;
    insert(SubjectKind::category, live->id, Metric::rss, of.rss);
    raise(SubjectKind::category, live->id, Metric::rss, of.rss.highest);
  }
  strangers_.clear();
  for (const ProcessExtremes& of : extremes.processes) {
    const LiveProcess* const live = find_sorted(state.processes, of.process, &LiveProcess::key);
    if (live == nullptr) {
      strangers_.push_back(of);
      continue;
    }
    const Extremes hwm = beyond_mark(of.hwm, live->last);
    insert(SubjectKind::process, live->id, Metric::rss, of.rss);
    insert(SubjectKind::process, live->id, Metric::anon, of.anon);
    insert(SubjectKind::process, live->id, Metric::hwm, hwm);
    if (hwm.highest) state.marks.observe_exit(live->id, live->groups, hwm.highest->kib, time_of(*hwm.highest, context));
  }
}

void ExtremeStore::store_peak(std::int64_t id, const ProcessMemory& now, const ProcessMemory* last, MarkTime time,
                              SampleRows& samples, const TickContext& context) {
  const auto mark_of = [](const ProcessMemory& memory) { return memory.get(ProcessField::vm_hwm); };
  const auto mark = mark_of(now);
  const bool is_risen = mark && (last == nullptr || (mark_of(*last) && *mark > *mark_of(*last)));
  if (!is_risen) return;
  std::int64_t known_kib = metric_kib(now, Metric::rss).value_or(0);
  if (last != nullptr) known_kib = std::max(known_kib, metric_kib(*last, Metric::rss).value_or(0));
  if (*mark - known_kib <= std::max(known_kib / 64, kNegligibleKib)) return;
  samples.insert(context.tick_id, SubjectKind::process, id, Metric::hwm,
                 {{}, SeenSize{*mark, time.at_ms, time.before_ms, time.by}}, time.at_ms);
}

void ExtremeStore::store_cgroups(const TickExtremes& extremes, SampleRows& samples, ProcessRows& names,
                                 const TickContext& context, WriterState& state) {
  for (const CgroupExtremes& of : extremes.cgroups) {
    const std::int64_t id = names.cgroup_id(of.path, context.time.at_ms);
    for (const auto& [metric, seen] : {std::pair(Metric::usage, &of.usage), std::pair(Metric::usage_swap, &of.swap)}) {
      if (!seen->highest) continue;
      samples.insert(context.tick_id, SubjectKind::cgroup, id, metric, *seen, context.time.at_ms);
      state.marks.observe(SubjectKind::cgroup, id, metric, seen->highest->kib, time_of(*seen->highest, context));
    }
  }
}

void ExtremeStore::store_unsampled(std::int64_t boot_id, SampleRows& samples, ProcessRows& processes,
                                   const TickContext& context, WriterState& state) {
  for (const ProcessExtremes& of : strangers_) {
    const auto row = of.hwm.highest ? processes.find(boot_id, of.process) : std::nullopt;
    if (!row) continue;
    const SeenSize& peak = *of.hwm.highest;
    samples.insert(context.tick_id, SubjectKind::process, row->id, Metric::hwm, of.hwm, context.time.at_ms);
    state.marks.observe_exit(row->id, {row->identity_id, row->cgroup_id}, peak.kib, time_of(peak, context));
  }
}

}  // namespace memoir
