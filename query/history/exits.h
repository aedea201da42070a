#pragma once

// Exited processes, as reported by the kernel: single exits, and the sums of the others. Includes unsampled processes.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "query/args/filter.h"
#include "store/reader.h"

namespace memoir::query {

struct ExitedProcess {
  StoredProcess process;
  ExitRecord record;
};

// Several exited processes of one name. `process` has their common properties, for filters and groups.
struct ExitedOthers {
  StoredProcess process;
  ExitSum sum;
};

StoredProcess stand_in(const ExitSum& sum);

struct Exited {
  ExitTotals totals;
  std::vector<StoredExit> kept;  // single exits, the largest peak first
  std::vector<ExitedOthers> others;
};

// Loads the exits of a range. Filters only the sums: the filter of single exits needs their processes, which
// visit_kept() loads.
Result<Exited> load_exited(Reader& reader, Range range, const Filter& filter);

// Visits the exits that the filter accepts, in order, with their processes. Reads a few thousand processes at a time,
// because there may be very many.
Status visit_kept(Reader& reader, const std::vector<StoredExit>& kept, const Filter& filter,
                  const std::function<void(const ExitedProcess&)>& visit);

// Returns a sum of one exit, without names.
ExitSum sum_of(const ExitRecord& end);

// "exit 0", "exit 1", "SIGKILL", "SIGSEGV (core)".
std::string format_exit_status(std::int32_t exit_code);

// Return the exit status or the signal number from a wait(2) status. Return nullopt if the process ended the other way,
// or if its status is unknown.
std::optional<std::int64_t> status_of(std::optional<std::int32_t> exit_code);
std::optional<std::int64_t> signal_of(std::optional<std::int32_t> exit_code);

// Returns notes about missing exits: the range, or a part of it, has no kernel events, or some were lost. Empty if all
// exits are known.
std::vector<std::string> exit_gaps(const ExitTotals& totals);

}  // namespace memoir::query
