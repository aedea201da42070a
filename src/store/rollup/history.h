#pragma once

// Values over time for Reader::history: from ticks or from rollups, according to the query's tier. Needs an open
// transaction.

#include <optional>

#include "base/result.h"
#include "store/rollup/pending_rollups.h"
#include "store/types.h"

namespace memoir {

// Returns the error in a query; nullopt if it is valid.
std::optional<Error> error_in(const HistoryQuery& question);

void visit_history(SQLite::Database& database, PendingRollups& tails, const HistoryQuery& question,
                   const VisitInterval& visit);

}  // namespace memoir
