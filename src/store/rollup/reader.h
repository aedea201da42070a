#pragma once

// The complete buckets of a tier: the written rows, followed by buckets computed from raw rows. Needs an open
// transaction, so that both are of one state of the file.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "store/rollup/pending_rollups.h"
#include "store/sqlite/statement.h"
#include "store/types.h"

namespace memoir {

std::vector<TierSpan> load_tiers(SQLite::Database& database);

// Visits the buckets of the query's tier, which is not raw.
void visit_rollups(SQLite::Database& database, PendingRollups& tails, const HistoryQuery& question,
                   const VisitInterval& visit);

}  // namespace memoir
