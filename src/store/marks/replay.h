#pragma once

// Makes the marks of stored ticks again, as for an extract, whose range may exclude what raised the marks of its days.

#include "store/marks/table.h"

namespace memoir {

// Appends the marks of all ticks, of which the first is a keyframe. Needs an open transaction.
void replay_marks(SQLite::Database& database, MarkTable& marks);

}  // namespace memoir
