#pragma once

#include "analysis/grouping.h"
#include "query/report/report.h"
#include "query/state/command.h"
#include "query/state/state.h"

namespace memoir::query {

// Totals of the processes of an answer from one state, with their exact share and the maximum error of the remainder,
// and the machine's: in the totals, and as notes.
Status report_total(const Tally& total, const State& state, const Context& context, Report& report);

// Why RSS replaces the PSS of `count` processes of a state, as the recorder reported it; empty if there are none.
Result<std::string> approximate_note(const Context& context, const State& state, std::int64_t count);

}  // namespace memoir::query
