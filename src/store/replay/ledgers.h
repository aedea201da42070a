#pragma once

// The ledgers of mappings at one tick, from the rows between its keyframe and itself.

#include <cstdint>
#include <optional>
#include <vector>

#include "store/sqlite/statement.h"
#include "store/types.h"

namespace memoir {

// Sorted by process row.
std::vector<LedgerAt> load_ledgers(SQLite::Database& database, std::int64_t tick_id,
                                   std::optional<std::int64_t> process_id);

// Of all that ends in kDeletedMark, as far back as ticks are kept; sorted by time.
std::vector<FirstMapping> load_first_mappings(SQLite::Database& database, std::int64_t tick_id);

}  // namespace memoir
