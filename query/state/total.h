#pragma once

#include "analysis/grouping.h"
#include "query/report/report.h"
#include "query/state/command.h"
#include "query/state/state.h"

namespace memoir::query {

// Reports the totals of an answer's processes and of the machine, in the totals and as notes. Includes the exact share
// of the processes' PSS and the maximum error of the remainder.
Status report_total(const Tally& total, const State& state, const Context& context, Report& report);

// Returns why RSS replaces the PSS of `count` processes of a state, as the recorder reported it; empty if `count` is 0.
Result<std::string> approximate_note(const Context& context, const State& state, std::int64_t count);

}  // namespace memoir::query
