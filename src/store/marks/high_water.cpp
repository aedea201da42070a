#include "store/marks/high_water.h"

#include <algorithm>

namespace memoir {

namespace {

template <typename GetValue>
MarkValues values_of(SubjectKind kind, GetValue&& value) {
  MarkValues values;
  const std::vector<Metric>& metrics = sampled_marks(kind);
  for (std::size_t i = 0; i < metrics.size(); ++i) values.at(i) = value(metrics[i]);
  return values;
}

}  // namespace

MarkValues mark_values(const MachineMemory& memory) {
  return values_of(SubjectKind::machine, [&](Metric metric) { return metric_value(memory, metric); });
}

MarkValues mark_values(const CategorySample& sample) {
  return values_of(SubjectKind::category, [&](Metric metric) { return metric_kib(sample, metric); });
}

MarkValues mark_values(const CgroupSample& sample) {
  return values_of(SubjectKind::cgroup, [&](Metric metric) { return metric_kib(sample, metric); });
}

MarkValues mark_values(const ProcessMemory& memory, Source source) {
  const bool measured = source != Source::approximate && source != Source::inaccessible;
  return values_of(SubjectKind::process, [&](Metric metric) {
    if (metric == Metric::pss && !measured) return std::optional<std::int64_t>();
    return metric == Metric::swap ? memory.get(ProcessField::swap) : metric_kib(memory, metric);
  });
}

MarkValues mark_value(SubjectKind kind, Metric metric, std::int64_t kib) {
  return values_of(kind, [&](Metric of) { return of == metric ? std::optional(kib) : std::nullopt; });
}

bool beats(Metric metric, std::int64_t value, std::optional<std::int64_t> mark) {
  if (metric == metric_of(MachineField::mem_available)) return !mark || value < *mark;
  return value > mark.value_or(0);
}

MarkTime since_start(MarkTime time, std::int64_t start_ms, bool had_tick_before) {
  const std::int64_t earliest = had_tick_before ? std::max(time.before_ms, start_ms) : start_ms;
  return {time.at_ms, std::min(earliest, time.at_ms), time.by};
}

void Marks::see(SubjectKind subject, const MarkValues& values, MarkTime time, MarkTime hwm_time) {
  const std::vector<Metric>& metrics = sampled_marks(subject);
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    const auto value = values.at(i);
    if (!value) continue;
    for (Mark* mark : {&day[i], &ever[i]}) {
      if (beats(metrics[i], *value, mark->value)) *mark = {value, metrics[i] == Metric::hwm ? hwm_time : time, true};
    }
  }
}

std::int64_t day_of(std::int64_t wall_ms) {
  std::int64_t past = wall_ms % kDayMs;
  if (past < 0) past += kDayMs;
  return wall_ms - past;
}

}  // namespace memoir
