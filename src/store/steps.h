#pragma once

// Replays the rows of a range as steps: a first pass over (tick, subject) finds from when until when each row holds,
// a second over the values hands them out in the order of time, with no more than the state of one tick in memory.

#include <functional>

#include "store/reader.h"
#include "store/statement.h"
#include "store/tick_cursor.h"

namespace memoir {

TickSpan span_of(SQLite::Database& database, Range range);

void visit_process_steps(SQLite::Database& database, Range range, const std::function<void(const ProcessStep&)>& visit);
void visit_machine_steps(SQLite::Database& database, Range range, const std::function<void(const MachineStep&)>& visit);
void visit_category_steps(SQLite::Database& database, Range range,
                          const std::function<void(const CategoryStep&)>& visit);

}  // namespace memoir
