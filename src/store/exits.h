#pragma once

// Exits of processes, as reported by the kernel.

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "store/reader.h"

namespace memoir {

// Returns the exits of sampled or large processes in the range, by time.
Result<std::vector<StoredExit>> load_exits(Reader& reader, Range range);

// Returns the sums of the other exits. A sum may extend a few minutes beyond the range, and then counts exits outside
// of it.
Result<std::vector<ExitSum>> load_exit_sums(Reader& reader, Range range);

// Returns all of load_exit_sums() as one sum without names, at a fraction of its cost.
Result<ExitSum> load_sum_of_exits(Reader& reader, Range range);

Result<ExitTotals> load_exit_totals(Reader& reader, Range range);

// Returns the exit of one process; nullopt if it was not reported, or was later than the first tick without the
// process.
Result<std::optional<ExitRecord>> load_exit_of(Reader& reader, std::int64_t process_id);

}  // namespace memoir
