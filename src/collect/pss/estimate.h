#pragma once

// Estimates the PSS of a process between two exact readings, from its status counters and its last reading. Memory that
// it shares with no process counts fully. So if only its own anonymous memory changed, PSS is as accurate as a reading
// (except KSM merging). Of shared memory the share is carried forward. Pure.

#include <cstdint>

#include "model/process.h"
#include "model/tick.h"

namespace memoir {

struct ExactReading {
  ProcessMemory memory;    // rollup fields as read, status fields as counted just before
  std::int64_t at_ms = 0;  // boot clock
  Cost cost{};
  // Error of earlier estimates relative to the touched memory; initially all of it.
  double wrong_part = 1;
};

// No anonymous page was shared with another process. Uncertain before Linux 5.3, which has no parts of PSS.
bool anonymous_unshared(const ProcessMemory& read);

// Changes since then in a process and its relatives.
struct RelativesSince {
  bool forked = false;  // or exec'd, or exited: `related` in estimate()
  // Minor faults, which include the first write to a page left shared by a fork (copy on write): an upper bound of the
  // copied memory.
  std::int64_t wrote_kib = 0;
};

// No limit: the faults are unknown.
inline constexpr std::int64_t kAnyKib = std::int64_t{1} << 50;

// Returns how much memory that others may share has changed since then, up to `now_ms`. Includes memory that may have
// changed without a counter: by relatives, and by copies on write.
std::int64_t touched_kib(const ExactReading& last, const ProcessMemory& now, const RelativesSince& kin,
                         std::int64_t now_ms);

// Returns `wrong_part` after another reading. An error counts immediately; trust grows gradually.
double learn(double wrong_part, std::int64_t touched_kib, std::int64_t error_kib);

// Sets the rollup's fields of `sample` to their estimates, from its status fields, and its source: held if PSS is
// known, otherwise estimated; inaccessible without memory. `related`: the process or a relative forked, exec'd or
// exited since the reading, so that pages may have gained or lost a sharer. Fields unrelated to PSS, such as
// Referenced, keep their values. Estimated PSS_anon equals RssAnon only if all of it is private, so that readers can
// derive bounds (pss_bounds in model/process.h).
void estimate(const ExactReading& last, bool related, ProcessSample& sample);

// Adds an error to the shared part of PSS, or subtracts it; the source becomes estimated.
void correct_shared(std::int64_t error_kib, ProcessSample& sample);

// Ensures USS <= PSS <= RSS for any estimates.
void keep_order(ProcessMemory& memory);

// Subtracts one page from a process that may share anonymous memory, if otherwise all of it would count as its own.
void take_off_shared(ProcessMemory& memory);

}  // namespace memoir
