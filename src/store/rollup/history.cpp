#include "store/rollup/history.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <span>
#include <vector>

#include "store/replay/extremes.h"
#include "store/replay/samples.h"
#include "store/rollup/reader.h"
#include "store/rows/columns.h"
#include "store/schema/sql.h"

namespace memoir {
namespace {

// Returns whether ticks have values of a metric. They have no sums over members, but they have cgroups' own counters.
bool in_ticks(SubjectKind kind, const MetricInfo& metric) {
  return metric.counted || !info_of(kind).summed;
}

void visit_machine_ticks(SQLite::Database& database, const HistoryQuery& question, const VisitInterval& visit) {
  const ExtremesBetween between(database, span_of(database, question.range), question);
  visit_machine_samples(database, question.range, [&](const SampleSpan<MachineMemory>& held) {
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
void visit_group_ticks(SQLite::Database& database, const HistoryQuery& question,
                       void (*visit_samples)(SQLite::Database&, Range, const VisitSpan<Sample>&),
                       const VisitInterval& visit) {
  const ExtremesBetween between(database, span_of(database, question.range), question);
  visit_samples(database, question.range, [&](const SampleSpan<Sample>& held) {
    if (question.subject_id && held.subject_id != *question.subject_id) return;
    for (const Metric metric : question.metrics) {
      between.cut({held.subject_id, metric, processes_of(*held.sample),
                   constant(held.from_ms, held.until_ms, metric_kib(*held.sample, metric))},
                  visit);
    }
  });
}

std::vector<ProcessField> fields_of(const std::vector<Metric>& metrics) {
  std::vector<ProcessField> fields;
  for (const Metric metric : metrics) std::ranges::copy(info_of(metric).rule.of, std::back_inserter(fields));
  std::ranges::sort(fields);
  fields.erase(std::unique(fields.begin(), fields.end()), fields.end());
  return fields;
}

// Visits metrics of each process in a single pass, which reads only the columns that they need.
class ValuePass {
 public:
  ValuePass(SQLite::Database& database, const HistoryQuery& question, const VisitInterval& visit)
      : database_(database),
        question_(question),
        ticks_(ticks_of(database, question)),
        hot_fields_(among(fields_of(question.metrics), kHotProcessFields)),
        cold_fields_(among(fields_of(question.metrics), kColdProcessFields)),
        unpacker_(hot_fields_),
        plan_(question.range,
              [this, &visit](const PlannedInterval& interval, const Row& row) { hand_out(interval, row, visit); }),
        hot_(database, sql("process_id, source", unpacker_.columns(), "process_sample"), ticks_),
        cold_(database, sql("process_id, state IN ('Z', 'X')", cold_fields_, "process_detail"),
              question.zombies || !cold_fields_.empty() ? ticks_ : TickSpan()),
        gone_(database, sql::exited_processes, ticks_),
        between_(database, ticks_, question),
        steps_back_(steps_back(database, question.range)) {}

  void run() {
    plan_intervals(database_, ticks_, plan_, [this](std::int64_t tick_id) { apply_rows(tick_id); });
  }

 private:
  struct Row {
    ProcessMemory memory;  // the requested fields, and the fields from which they are computed
    Source source = Source::inaccessible;
    bool zombie = false;
  };

  // Returns the ticks of the query, from the keyframe that the first one needs; for one process, only those of its
  // lifetime.
  static TickSpan ticks_of(SQLite::Database& database, const HistoryQuery& question) {
    TickSpan ticks = span_of(database, question.range);
    if (ticks.empty()) return ticks;
    if (question.subject_id) {
      Statement life(database, "SELECT first_tick_id, COALESCE(exited_tick_id, ?2) FROM process WHERE id = ?1");
      if (!life.bind(*question.subject_id, ticks.last).step()) return {};
      ticks = {std::max(ticks.first, life.integer(0)), std::min(ticks.last, life.integer(1))};
      if (ticks.empty()) return {};
    }
    ticks.first = keyframe_of(database, ticks.first);
    return ticks;
  }

  static std::vector<ProcessField> among(const std::vector<ProcessField>& fields, std::span<const ProcessField> table) {
    std::vector<ProcessField> found;
    std::ranges::copy_if(fields, std::back_inserter(found),
                         [&](ProcessField field) { return std::ranges::find(table, field) != table.end(); });
    return found;
  }

  std::string sql(std::string columns, const std::vector<ProcessField>& fields, const char* table) const {
    if (!fields.empty()) columns += ", " + column_list(fields);
    return rows_sql(columns, table, "tick_id, process_id", question_.subject_id);
  }

  void apply_rows(std::int64_t tick_id) {
    hot_.apply_up_to(tick_id, [this](const Statement& from) { apply_hot(from); });
    cold_.apply_up_to(tick_id, [this](const Statement& from) { apply_cold(from); });
    gone_.apply_up_to(tick_id, [this](const Statement& from) { plan_.remove(from.integer(1)); });
  }

  void apply_hot(const Statement& from) {
    const std::int64_t process_id = from.integer(1);
    const std::int64_t source = from.integer(2);
    if (source == kAbsentSource) return plan_.close(process_id);
    Row& row = plan_.open(process_id);
    row.source = static_cast<Source>(source);
    read_fields<ProcessField>(from, 3, row.memory, unpacker_.columns());
    unpacker_.unpack(row.memory, row.source);
  }

  void apply_cold(const Statement& from) {
    const std::int64_t process_id = from.integer(1);
    Row& row = plan_.open(process_id);
    row.zombie = from.integer(2) != 0;
    read_fields<ProcessField>(from, 3, row.memory, cold_fields_);
  }

  void hand_out(const PlannedInterval& interval, const Row& row, const VisitInterval& visit) const {
    const auto pass = std::ranges::upper_bound(steps_back_, interval.tick_id) - steps_back_.begin();
    for (const Metric metric : question_.metrics) {
      const Interval values = constant(interval.at_ms, interval.until_ms, metric_kib(row.memory, metric),
                                       is_exact(metric, row.source) ? 1 : 0);
      between_.cut({interval.subject_id, metric, row.zombie ? 0 : 1, values, static_cast<std::int32_t>(pass)}, visit);
    }
  }

  SQLite::Database& database_;
  const HistoryQuery& question_;
  const TickSpan ticks_;
  const std::vector<ProcessField> hot_fields_;
  const std::vector<ProcessField> cold_fields_;
  const Unpacker unpacker_;
  IntervalPlan<Row> plan_;
  TickCursor hot_;
  TickCursor cold_;
  TickCursor gone_;
  const ExtremesBetween between_;
  const std::vector<std::int64_t> steps_back_;
};

}  // namespace

std::optional<Error> error_in(const HistoryQuery& question) {
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
      return Error{ErrorKind::malformed, fmt::format("ticks have no values of {}", info_of(question.kind).one)};
  }
  return std::nullopt;
}

void visit_history(SQLite::Database& database, PendingRollups& tails, const HistoryQuery& question,
                   const VisitInterval& visit) {
  if (question.tier != Tier::raw) return visit_rollups(database, tails, question, visit);
  const SubjectKind kind = question.kind;  // error_in() refuses a kind without values in ticks
  if (kind == SubjectKind::machine) visit_machine_ticks(database, question, visit);
  if (kind == SubjectKind::process) ValuePass(database, question, visit).run();
  if (kind == SubjectKind::cgroup) visit_group_ticks(database, question, visit_cgroup_samples, visit);
  if (kind == SubjectKind::category) visit_group_ticks(database, question, visit_category_samples, visit);
}

}  // namespace memoir
