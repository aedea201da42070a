#include "store/rollup/history.h"

#include <fmt/format.h>

#include "store/replay/extremes.h"
#include "store/replay/process_values.h"
#include "store/replay/samples.h"
#include "store/rollup/reader.h"

namespace memoir {
namespace {

// Ticks hold no sums over members, but what the kernel counts of cgroups.
bool in_ticks(SubjectKind kind, const MetricInfo& metric) {
  return metric.counted || !info_of(kind).summed;
}

void visit_machine_ticks(SQLite::Database& database, const HistoryQuestion& question, const VisitInterval& visit) {
  const ExtremesBetween between(database, span_of(database, question.range), question);
  visit_machine_samples(database, question.range, [&](const HeldSample<MachineMemory>& held) {
    for (const Metric metric : question.metrics) {
      between.cut({0, metric, 0, constant(held.from_ms, held.until_ms, metric_value(*held.sample, metric))}, visit);
    }
  });
}

std::int64_t processes_of(const CategorySample& sample) {
  return sample.processes;
}
std::int64_t processes_of(const CgroupSample&) {
  return 0;
}

template <typename Sample>
void visit_group_ticks(SQLite::Database& database, const HistoryQuestion& question,
                       void (*visit_samples)(SQLite::Database&, Range, const VisitHeld<Sample>&),
                       const VisitInterval& visit) {
  const ExtremesBetween between(database, span_of(database, question.range), question);
  visit_samples(database, question.range, [&](const HeldSample<Sample>& held) {
    if (question.subject_id && held.subject_id != *question.subject_id) return;
    for (const Metric metric : question.metrics) {
      between.cut({held.subject_id, metric, processes_of(*held.sample),
                   constant(held.from_ms, held.until_ms, metric_kib(*held.sample, metric))},
                  visit);
    }
  });
}

}  // namespace

std::optional<Error> error_in(const HistoryQuestion& question) {
  const bool ticks = question.tier == Tier::raw;
  for (const Metric metric : question.metrics) {
    const MetricInfo& info = info_of(metric);
    const bool of_kind = (question.kind == SubjectKind::machine) == info.kinds.contains(SubjectKind::machine);
    if (!of_kind || (info.counted && question.kind != SubjectKind::cgroup))
      return Error{ErrorKind::malformed, fmt::format("{} has no {}", info_of(question.kind).one, info.column)};
    if (!ticks && info.rollup == RollupForm::none)
      return Error{ErrorKind::malformed,
                   fmt::format("'{}' of {} is not rolled up", info.column, info_of(question.kind).one)};
    if (ticks && !in_ticks(question.kind, info))
      return Error{ErrorKind::malformed, fmt::format("ticks hold no values of {}", info_of(question.kind).one)};
  }
  return std::nullopt;
}

void visit_history(SQLite::Database& database, RollupTails& tails, const HistoryQuestion& question,
                   const VisitInterval& visit) {
  if (question.tier != Tier::raw) return visit_rollups(database, tails, question, visit);
  const SubjectKind kind = question.kind;  // any other error_in() has refused
  if (kind == SubjectKind::machine) visit_machine_ticks(database, question, visit);
  if (kind == SubjectKind::process) visit_process_values(database, question, visit);
  if (kind == SubjectKind::cgroup) visit_group_ticks(database, question, visit_cgroup_samples, visit);
  if (kind == SubjectKind::category) visit_group_ticks(database, question, visit_category_samples, visit);
}

}  // namespace memoir
