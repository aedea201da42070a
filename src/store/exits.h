#pragma once

// How processes ended, as the kernel reported it.

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "store/reader.h"

namespace memoir {

// Processes that ended in the range, in the order of their ends: those that a tick saw, and the large ones.
Result<std::vector<StoredEnd>> load_exits(Reader& reader, Range range);

// Sums of the other ends; a sum may reach beyond the range by some minutes, and its numbers are of all of it.
Result<std::vector<EndSum>> load_exit_sums(Reader& reader, Range range);

// All of load_exit_sums() in one, without names: at a fraction of its cost.
Result<EndSum> load_sum_of_exits(Reader& reader, Range range);

Result<EndTotals> load_exit_totals(Reader& reader, Range range);

// The end of one process that is gone; nullopt if it was not reported, or later than the first tick without the
// process.
Result<std::optional<ProcessEnd>> load_exit_of(Reader& reader, std::int64_t process_id);

}  // namespace memoir
