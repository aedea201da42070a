#pragma once

// Activity in a range, counted when its ticks were stored: started and exited processes, OOM kills. Ticks have these
// counts, and rollups keep their sums after the ticks expire.

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "store/reader.h"

namespace memoir {

struct Activity {
  std::int64_t ticks = 0;
  std::int64_t reported_ticks = 0;  // ticks with kernel events; without them, processes between two ticks are unknown
  std::int64_t lost_events = 0;
  std::int64_t started = 0;  // started processes; a process that execs counts once
  std::int64_t exited = 0;
  std::int64_t short_lived = 0;            // processes that exited within kShortLifeMs of their start
  std::optional<std::int64_t> alive = {};  // processes alive at the last tick; nullopt without a tick
  // Processes killed by the kernel, according to its counters, or by a user-space killer; nullopt if unknown.
  std::optional<std::int64_t> oom_kills = {};

  // Adds the activity of a later time.
  void add(const Activity& later);
};

struct ActivityBucket {
  std::int64_t from_ms = 0;
  std::int64_t until_ms = 0;
  Activity activity;
};

// Returns the buckets with a tick, in time order. A tick counts events up to its time, so a range has the ticks after
// from_ms up to to_ms + 1, the end of its last millisecond. Uses the finest rollups with buckets that tile the range,
// otherwise ticks, otherwise the buckets of 5 minutes that touch it. Returns nullopt if only rollups too wide for the
// range remain.
Result<std::optional<std::vector<ActivityBucket>>> load_activity_buckets(Reader& reader, Range range);

// Returns the sum of load_activity_buckets().
Result<std::optional<Activity>> load_activity(Reader& reader, Range range);

}  // namespace memoir
