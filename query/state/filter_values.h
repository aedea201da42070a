#pragma once

// Decides memory comparisons (rss>100M) of --filter. At one time, compares each process's memory at that time; over a
// range, its maximum.

#include <vector>

#include "query/args/filter.h"
#include "query/state/command.h"
#include "query/state/state.h"

namespace memoir::query {

// Decides by the highest value of each process in the range. Marks of RSS, PSS, USS and swap add values that only scans
// and exits observed.
Result<Filter> filter_over(const Context& context, Range range);

// Decides by the memory in the states; if there are several, by the maximum of each process.
Result<Filter> filter_at(const Options& options, const std::vector<const State*>& states);

// Notes which value of a process is compared; nothing if the filter compares none. `in` is "in the range".
void note_filter(const Filter& filter, std::string_view in, Report& report);

}  // namespace memoir::query
