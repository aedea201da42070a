#pragma once

// Recomputes the marks of stored ticks, for an extract: its range may exclude the values that raised the marks of its
// days.

#include "store/marks/table.h"

namespace memoir {

// Appends the marks of all ticks, the first of which is a keyframe. Needs an open transaction.
void replay_marks(SQLite::Database& database, MarkTable& marks);

}  // namespace memoir
