#pragma once

// How processes ended, from the rows of the ticks that told it.

#include <optional>
#include <vector>

#include "store/sqlite/statement.h"
#include "store/types.h"

namespace memoir {

// Those that ended in the range, in the order of that.
std::vector<StoredEnd> load_ends(SQLite::Database& database, Range range);
// Of the others, where some ended in the range; their numbers are of the whole sum.
std::vector<EndSum> load_end_sums(SQLite::Database& database, Range range);
std::optional<ProcessEnd> load_end_of(SQLite::Database& database, std::int64_t process_id);
EndSum load_sum_of_ends(SQLite::Database& database, Range range);
EndTotals load_end_totals(SQLite::Database& database, Range range);

}  // namespace memoir
