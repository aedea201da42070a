#pragma once

// The --filter of a question, decided where it compares memory (rss>100M): at a time by what each process held then,
// over a range by the most that it held in it.

#include <vector>

#include "query/args/filter.h"
#include "query/state/command.h"
#include "query/state/state.h"

namespace memoir::query {

// By the most that each process held in the range. Of ticks that is exact; of rollups, which know of no process that
// was shorter than a bucket, high-water marks stand in where the store has them: of RSS, PSS, USS and swap.
Result<Filter> filter_over(const Context& context, Range range);

// By the state; of several by the most in one of them.
Result<Filter> filter_at(const Options& options, const std::vector<const State*>& states);

// In which of its values a process is compared; nothing where the filter compares none. `in` is "in the range".
void note_filter(const Filter& filter, std::string_view in, Report& report);

}  // namespace memoir::query
