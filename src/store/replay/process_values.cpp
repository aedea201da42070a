#include "store/replay/process_values.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <vector>

#include "store/replay/extremes.h"
#include "store/replay/samples.h"
#include "store/rows/columns.h"
#include "store/schema/sql.h"

namespace memoir {
namespace {

std::vector<ProcessField> fields_of(const std::vector<Metric>& metrics) {
  std::vector<ProcessField> fields;
  for (const Metric metric : metrics) std::ranges::copy(info_of(metric).rule.of, std::back_inserter(fields));
  std::ranges::sort(fields);
  fields.erase(std::unique(fields.begin(), fields.end()), fields.end());
  return fields;
}

class ValuePass {
 public:
  ValuePass(SQLite::Database& database, const HistoryQuestion& question, const VisitInterval& visit)
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
        gone_(database, sql::gone_processes, ticks_),
        between_(database, ticks_, question) {}

  void run() {
    plan_intervals(database_, ticks_, plan_, [this](std::int64_t tick_id) { apply_rows(tick_id); });
  }

 private:
  struct Row {
    ProcessMemory memory;  // the fields that are asked for, and what they are made of
    Source source = Source::inaccessible;
    bool zombie = false;
  };

  // From the keyframe that the first tick needs; of one process those of its life.
  static TickSpan ticks_of(SQLite::Database& database, const HistoryQuestion& question) {
    TickSpan ticks = span_of(database, question.range);
    if (ticks.empty()) return ticks;
    if (question.subject_id) {
      Statement life(database, "SELECT first_tick_id, COALESCE(gone_tick_id, ?2) FROM process WHERE id = ?1");
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
    for (const Metric metric : question_.metrics) {
      const Interval values = constant(interval.at_ms, interval.until_ms, metric_kib(row.memory, metric),
                                       is_exact(metric, row.source) ? 1 : 0);
      between_.cut({interval.subject_id, metric, row.zombie ? 0 : 1, values}, visit);
    }
  }

  SQLite::Database& database_;
  const HistoryQuestion& question_;
  const TickSpan ticks_;
  const std::vector<ProcessField> hot_fields_;
  const std::vector<ProcessField> cold_fields_;
  const Unpacker unpacker_;
  IntervalPlan<Row> plan_;
  TickCursor hot_;
  TickCursor cold_;
  TickCursor gone_;
  const ExtremesBetween between_;
};

}  // namespace

void visit_process_values(SQLite::Database& database, const HistoryQuestion& question, const VisitInterval& visit) {
  ValuePass(database, question, visit).run();
}

}  // namespace memoir
