#pragma once

// Estimates the PSS of a process between two exact readings, from its status counters and its last reading. Memory that
// it shares with no other process counts fully. So if only its own anonymous memory changed, the estimate is as
// accurate as a reading (except KSM merging). The share of shared memory is carried forward. Pure.

#include <cstdint>

#include "model/process.h"
#include "model/tick.h"

namespace memoir {

struct ExactReading {
  ProcessMemory memory;    // rollup fields as read, status fields as counted just before
  std::int64_t at_ms = 0;  // boot clock, time of the reading
  Cost cost{};
  // Error of earlier estimates, as a part of the touched memory; initially all of it.
  double wrong_part = 1;
};

// Returns whether no anonymous page was shared with another process. Returns false before Linux 5.3, which has no parts
// of PSS.
bool anonymous_unshared(const ProcessMemory& read);

// Changes since a reading in a process and its relatives.
struct RelativesSince {
  bool forked = false;  // a relative forked, exec'd or exited: `related` in estimate()
  // Minor faults. They include the first write to a page that a fork left shared (copy on write), so they are an upper
  // bound of the copied memory.
  std::int64_t wrote_kib = 0;
};

// Upper bound if the number of faults is unknown.
inline constexpr std::int64_t kAnyKib = std::int64_t{1} << 50;

// Returns how much memory that other processes may share has changed since the last reading, up to `now_ms`. Includes
// memory that may have changed without a counter, by relatives and by copies on write.
std::int64_t touched_kib(const ExactReading& last, const ProcessMemory& now, const RelativesSince& kin,
                         std::int64_t now_ms);

// Returns the new `wrong_part` after another reading. An error counts immediately; trust grows gradually.
double learn(double wrong_part, std::int64_t touched_kib, std::int64_t error_kib);

// Sets the rollup's fields of `sample` to estimates, from its status fields. Sets its source to held if PSS is known,
// otherwise to estimated. `related`: the process or a relative forked, exec'd or exited since the reading, so that
// pages may have gained or lost a sharer. Fields unrelated to PSS, such as Referenced, keep their values. Estimated
// PSS_anon equals RssAnon only if all of it is private, so that readers can derive bounds (pss_bounds in
// model/process.h).
void estimate(const ExactReading& last, bool related, ProcessSample& sample);

// Adds a correction, which may be negative, to the shared part of PSS. The source becomes estimated.
void correct_shared(std::int64_t error_kib, ProcessSample& sample);

// Ensures USS <= PSS <= RSS for any estimates.
void keep_order(ProcessMemory& memory);

// Subtracts one page from the PSS and the private memory of a process that may share anonymous memory, if by these
// values all of it is private.
void take_off_shared(ProcessMemory& memory);

}  // namespace memoir
