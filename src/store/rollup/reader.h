#pragma once

// Buckets of a tier as a reader sees them: the rows that are written, and from where they end what the raw rows make.
// Needs an open transaction, so that both are of one state of the file.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "store/rollup/tails.h"
#include "store/sqlite/statement.h"
#include "store/types.h"

namespace memoir {

std::vector<TierSpan> load_tiers(SQLite::Database& database);

// Of question.tier, which is not raw.
void visit_rollups(SQLite::Database& database, RollupTails& tails, const HistoryQuestion& question,
                   const VisitInterval& visit);

}  // namespace memoir
