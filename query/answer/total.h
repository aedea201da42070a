#pragma once

#include "analysis/grouping.h"
#include "query/ask/options.h"
#include "query/report/report.h"

namespace memoir::query {

// What the processes of an answer from one state hold together, how much of it is exact, and the machine beside them:
// in the totals, and as notes.
void report_total(const Tally& total, const Snapshot& snapshot, Units units, Report& report);

}  // namespace memoir::query
