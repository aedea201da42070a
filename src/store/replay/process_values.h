#pragma once

// Metrics of each process over time, from the ticks, in a single pass that reads no more columns than they are made of.

#include "store/sqlite/statement.h"
#include "store/types.h"

namespace memoir {

void visit_process_values(SQLite::Database& database, const HistoryQuestion& question, const VisitInterval& visit);

}  // namespace memoir
