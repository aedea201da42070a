#pragma once

// What the store knows of a range's coverage: stretches, which a whole week has few of, and the ticks that are not in
// one yet.

#include "store/replay/coverage.h"
#include "store/sqlite/statement.h"

namespace memoir {

// Feeds `coverage` with what it needs of a range.
void visit_coverage(SQLite::Database& database, Range range, CoverageBuilder& coverage);

}  // namespace memoir
