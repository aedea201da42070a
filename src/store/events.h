#pragma once

// Events of the recorder and of the kernel.

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/reader.h"

namespace memoir {

// Returns the events of the range in recording order.
Result<std::vector<Event>> load_events(Reader& reader, Range range);

// Unparsable lines of one kernel file with the same key, summed over runs.
struct StoredOddLine {
  OddLine odd;
  std::int64_t last_ms = 0;
};
// Returns the lines of each kind from all runs that had such lines in the range, the most frequent kind first.
Result<std::vector<StoredOddLine>> load_odd_lines(Reader& reader, Range range);

// Returns the reported victims of OOM killers, by time.
Result<std::vector<OomVictim>> load_oom_victims(Reader& reader, Range range);

// Kills that the kernel counted between two ticks, whether it reported the victims or not.
struct CountedKills {
  std::int64_t kills = 0;
  std::optional<std::int64_t> since_ms = {};  // time of the previous tick; nullopt in a new file
  std::int64_t at_ms = 0;
  std::string cgroup;  // the kills were in or below this cgroup; empty if unknown
};
Result<std::vector<CountedKills>> load_counted_kills(Reader& reader, Range range);

}  // namespace memoir
