#include "store/rollup/history.h"

#include <fmt/format.h>

#include "store/replay/extremes.h"
#include "store/replay/process_values.h"
#include "store/replay/samples.h"
#include "store/rollup/reader.h"

namespace memoir {
namespace {

const char* word_of(SubjectKind kind) {
  constexpr std::array words{"the machine", "a category", "a process", "an identity", "a cgroup"};
  return words.at(static_cast<std::size_t>(kind));
}

// Ticks hold no sums over identities and cgroups.
bool in_ticks(SubjectKind kind) {
  return kind != SubjectKind::identity && kind != SubjectKind::cgroup;
}

void visit_machine_ticks(SQLite::Database& database, const HistoryQuestion& question,
                         const std::function<void(const SubjectInterval&)>& visit) {
  const ExtremesBetween between(database, span_of(database, question.range), SubjectKind::machine, {});
  visit_machine_samples(database, question.range, [&](const HeldSample<MachineMemory>& held) {
    for (const Metric metric : question.metrics) {
      between.cut(0, metric, constant(held.from_ms, held.until_ms, metric_value(*held.sample, metric)),
                  [&](const Interval& interval) {
                    visit({0, metric, 0, interval});
                  });
    }
  });
}

void visit_category_ticks(SQLite::Database& database, const HistoryQuestion& question,
                          const std::function<void(const SubjectInterval&)>& visit) {
  const ExtremesBetween between(database, span_of(database, question.range), SubjectKind::category,
                                question.subject_id);
  visit_category_samples(database, question.range, [&](const HeldSample<CategorySample>& held) {
    if (question.subject_id && held.subject_id != *question.subject_id) return;
    for (const Metric metric : question.metrics) {
      between.cut(held.subject_id, metric, constant(held.from_ms, held.until_ms, metric_kib(*held.sample, metric)),
                  [&](const Interval& interval) {
                    visit({held.subject_id, metric, held.sample->processes, interval});
                  });
    }
  });
}

}  // namespace

std::optional<Error> error_in(const HistoryQuestion& question) {
  const bool ticks = question.tier == Tier::raw;
  for (const Metric metric : question.metrics) {
    const MetricInfo& info = info_of(metric);
    const bool of_kind = (question.kind == SubjectKind::machine) == info.kinds.contains(SubjectKind::machine);
    if (!of_kind) return Error{ErrorKind::malformed, fmt::format("{} has no {}", word_of(question.kind), info.column)};
    if (!ticks && !info.rolled_up)
      return Error{ErrorKind::malformed,
                   fmt::format("'{}' of {} is not rolled up", info.column, word_of(question.kind))};
  }
  if (ticks && !in_ticks(question.kind))
    return Error{ErrorKind::malformed, fmt::format("ticks hold no values of {}", word_of(question.kind))};
  return std::nullopt;
}

void visit_history(SQLite::Database& database, RollupTails& tails, const HistoryQuestion& question,
                   const std::function<void(const SubjectInterval&)>& visit) {
  if (question.tier != Tier::raw) return visit_rollups(database, tails, question, visit);
  if (question.kind == SubjectKind::process) return visit_process_values(database, question, visit);
  const bool machine = question.kind == SubjectKind::machine;
  (machine ? visit_machine_ticks : visit_category_ticks)(database, question, visit);
}

}  // namespace memoir
