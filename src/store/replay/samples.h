#pragma once

// Replays the rows of a range as samples with a duration. A first pass over (tick, subject) computes the time of each
// row; a second one visits the values in time order, with only the state of one tick in memory.

#include <cstdint>
#include <vector>

#include "store/replay/interval_plan.h"
#include "store/replay/tick_cursor.h"
#include "store/replay/tick_stamps.h"
#include "store/sqlite/statement.h"
#include "store/types.h"

namespace memoir {

TickSpan span_of(SQLite::Database& database, Range range);

// Returns the ticks of the range before which the wall clock was set back, in order.
std::vector<std::int64_t> steps_back(SQLite::Database& database, Range range);

// Visits the ticks, and the tick after them, which ends the duration of the last. `apply_rows` applies the rows up to
// a tick, by opening and closing intervals of the plan.
template <typename Values, typename ApplyRows>
void plan_intervals(SQLite::Database& database, const TickSpan& ticks, IntervalPlan<Values>& plan,
                    const ApplyRows& apply_rows) {
  if (ticks.empty()) return;
  TickStamps marks(database, ticks.first, ticks.last + 1);
  while (marks.step()) {
    if (marks.id() > ticks.last) return plan.finish(marks.mark());
    plan.begin_tick(marks.id(), marks.keyframe(), marks.mark());
    apply_rows(marks.id());
  }
  plan.finish(std::nullopt);
}

void visit_process_samples(SQLite::Database& database, Range range, const VisitSpan<ProcessSample>& visit);
void visit_machine_samples(SQLite::Database& database, Range range, const VisitSpan<MachineMemory>& visit);
void visit_category_samples(SQLite::Database& database, Range range, const VisitSpan<CategorySample>& visit);
// The samples have no path.
void visit_cgroup_samples(SQLite::Database& database, Range range, const VisitSpan<CgroupSample>& visit);

}  // namespace memoir
