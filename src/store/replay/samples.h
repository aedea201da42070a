#pragma once

// Replays the rows of a range as samples that hold for a while: a first pass over (tick, subject) finds from when until
// when each row holds, a second over the values hands them out in the order of time, with no more than the state of one
// tick in memory.

#include "store/replay/interval_plan.h"
#include "store/replay/tick_cursor.h"
#include "store/replay/tick_marks.h"
#include "store/sqlite/statement.h"
#include "store/types.h"

namespace memoir {

TickSpan span_of(SQLite::Database& database, Range range);

// Goes through the ticks, and through the one after them for how long the last holds. `apply_rows` opens and closes in
// the plan what has rows up to a tick.
template <typename Values, typename ApplyRows>
void plan_intervals(SQLite::Database& database, const TickSpan& ticks, IntervalPlan<Values>& plan,
                    const ApplyRows& apply_rows) {
  if (ticks.empty()) return;
  TickMarks marks(database, ticks.first, ticks.last + 1);
  while (marks.step()) {
    if (marks.id() > ticks.last) return plan.finish(marks.mark());
    plan.begin_tick(marks.id(), marks.keyframe(), marks.mark());
    apply_rows(marks.id());
  }
  plan.finish(std::nullopt);
}

void visit_process_samples(SQLite::Database& database, Range range, const VisitHeld<ProcessSample>& visit);
void visit_machine_samples(SQLite::Database& database, Range range, const VisitHeld<MachineMemory>& visit);
void visit_category_samples(SQLite::Database& database, Range range, const VisitHeld<CategorySample>& visit);
// With what they hold, and no path.
void visit_cgroup_samples(SQLite::Database& database, Range range, const VisitHeld<CgroupSample>& visit);

}  // namespace memoir
