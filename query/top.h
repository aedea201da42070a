#pragma once

// memoir top: who used the memory. One file answers for one time, one for a range.

#include "analysis/ranking.h"
#include "base/result.h"
#include "query/command.h"
#include "query/limit.h"

namespace memoir::query {

Result<Report> top_at(const Context& context);
Result<Report> top_over(const Context& context, Range range);

// What --group makes a row of, "process" by default.
std::string top_group(const Options& options);

// The mean over all the time that was recorded: who was not there held nothing, so that means add up. Of a range of a
// single tick, which has no length to weigh with, the plain mean.
std::optional<std::int64_t> mean_over(const Summary& summary, std::int64_t recorded_ms);

}  // namespace memoir::query
