#pragma once

#include "analysis/grouping.h"
#include "query/report/report.h"
#include "query/state/command.h"
#include "query/state/state.h"

namespace memoir::query {

// What the processes of an answer from one state hold together, how much of it is exact and how wrong the rest may be,
// and the machine beside them: in the totals, and as notes.
Status report_total(const Tally& total, const State& state, const Context& context, Report& report);

}  // namespace memoir::query
