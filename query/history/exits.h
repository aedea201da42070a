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

// Several with one name. Their common properties replace a process, for filters and groups.
struct ExitedOthers {
  StoredProcess process;
  ExitSum sum;
};

StoredProcess stand_in(const ExitSum& sum);

struct Exited {
  ExitTotals totals;
  std::vector<StoredExit> kept;  // the largest peak first
  std::vector<ExitedOthers> others;
};

// Exits of all kept processes, unfiltered: visit_kept() loads the processes.
Result<Exited> load_exited(Reader& reader, Range range, const Filter& filter);

// Visits the exits that the filter accepts, in order, with their processes: some thousand are read together, because
// there may be very many.
Status visit_kept(Reader& reader, const std::vector<StoredExit>& kept, const Filter& filter,
                  const std::function<void(const ExitedProcess&)>& visit);

// A sum of one exit, without names.
ExitSum sum_of(const ExitRecord& end);

// "exit 0", "exit 1", "SIGKILL", "SIGSEGV (core)".
std::string format_exit_status(std::int32_t exit_code);

// Exit status in wait(2)'s format; nullopt if it ended otherwise, or the outcome is unknown.
std::optional<std::int64_t> status_of(std::optional<std::int32_t> exit_code);
std::optional<std::int64_t> signal_of(std::optional<std::int32_t> exit_code);

// Notes that the range, or a part of it, has no exits because there were no kernel events, and that some were lost.
// Empty if it has all.
std::vector<std::string> exit_gaps(const ExitTotals& totals);

}  // namespace memoir::query
