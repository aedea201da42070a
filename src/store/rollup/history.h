#pragma once

// Values over time as Reader::history tells them: from ticks or from rollups, as the question's tier says. Needs an
// open transaction.

#include <optional>

#include "base/result.h"
#include "store/rollup/tails.h"
#include "store/types.h"

namespace memoir {

// What is wrong with a question; absent: nothing.
std::optional<Error> error_in(const HistoryQuestion& question);

void visit_history(SQLite::Database& database, RollupTails& tails, const HistoryQuestion& question,
                   const VisitInterval& visit);

}  // namespace memoir
