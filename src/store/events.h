#pragma once

// Events of the recorder and of the kernel.

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/reader.h"

namespace memoir {

// In recording order.
Result<std::vector<Event>> load_events(Reader& reader, Range range);

// Lines of kernel files that could not be parsed, in runs with any in the range, the most frequent first.
struct StoredOddLine {
  OddLine odd;
  std::int64_t last_ms = 0;
};
Result<std::vector<StoredOddLine>> load_odd_lines(Reader& reader, Range range);

// Victims of the OOM killer by time, as far as the kernel reported them.
Result<std::vector<OomVictim>> load_oom_victims(Reader& reader, Range range);

// Kills by the kernel between two ticks, by its counters: each kill once, whether its victim was reported or not.
struct CountedKills {
  std::int64_t kills = 0;
  std::optional<std::int64_t> since_ms = {};  // the tick before; nullopt in a new file
  std::int64_t at_ms = 0;
  std::string cgroup;  // in or below it; empty if unknown
};
Result<std::vector<CountedKills>> load_counted_kills(Reader& reader, Range range);

}  // namespace memoir
