#pragma once

// The stored coverage of a range: its stretches (few, even in a full week) and the ticks that are not in a stretch yet.

#include "store/replay/coverage.h"
#include "store/sqlite/statement.h"

namespace memoir {

// Feeds `coverage` with the rows of a range.
void visit_coverage(SQLite::Database& database, Range range, CoverageBuilder& coverage);

}  // namespace memoir
