#pragma once

// Chooses the processes whose smaps_rollup is read in a tick, within the CPU budget. A read costs 10 ms for each GB and
// blocks the process's mmap(). A process is due if some of its memory is unknown without a read, or if its last reading
// is old. It is not read again for a while, for longer after a longer reading. Due processes are read in the order of
// their possible error. In a burst (burst.h) the most changed ones are read beyond the budget. Pure.

#include <cstdint>
#include <span>
#include <vector>

#include "collect/pss/pool.h"
#include "collect/pss/read_request.h"
#include "model/tick.h"

namespace memoir {

// A process that could be read.
struct ReadCandidate {
  bool unread = false;           // its current memory was never read, because it is new or exec'd
  std::int64_t touched_kib = 0;  // memory touched since the last reading, as in estimate.h
  double wrong_part = 1;         // expected error, as a part of touched_kib
  std::int64_t wrong_kib = 0;    // expected error of its share of shared memory (shared_drift.h)
  std::int64_t moved_kib = 0;    // change of RSS since the last reading, up or down
  std::int64_t rss_kib = 0;
  std::int64_t pss_kib = 0;    // estimated PSS
  std::int64_t age_ms = 0;     // age of the last reading
  Cost cost{};                 // cost of the last reading
  std::size_t pool = kNoPool;  // index in the pools passed to choose()

  static constexpr std::size_t kNoPool = static_cast<std::size_t>(-1);
};

// Age at which a reading is too old even without changes. The counters of a process do not show changes by other
// processes, which map the same file or merge pages.
inline constexpr std::int64_t kGreatestAgeMs = 600'000;
// Age at which a reading is discarded.
inline constexpr std::int64_t kForgottenMs = 12 * kGreatestAgeMs;
// Minimum pause after a reading, as a multiple of its duration. It limits the share of time for which a process is
// blocked.
inline constexpr std::int64_t kRest = 2'000;

// In a burst, this number of processes is read beyond the budget, for up to this time per tick. The cost is earned back
// in the cooldown. The pause after a reading is shorter: a process is blocked for at most a 50th of its time.
inline constexpr std::size_t kBurstReads = 10;
inline constexpr std::int64_t kBurstReadUs = 20'000;
inline constexpr std::int64_t kBurstRest = 50;

struct ReadSelection {
  std::vector<std::size_t> chosen;  // indices of the chosen candidates, in reading order
  std::int64_t deferred = 0;        // number of due candidates beyond the budget
  Grants granted;                   // grants for the requests in `others`
};

// Returns the expected CPU time of a read, in µs.
std::int64_t expected_us(const ReadCandidate& need);

bool due(const ReadCandidate& need);

// Orders the due candidates together with the other requests (read_request.h) and chooses as many as the budget
// permits; one more is read while any budget is left. Only as many members of a pool of siblings (pool.h) are read as
// the pool needs; the others are estimated from these.
ReadSelection choose(std::span<const ReadCandidate> needs, std::int64_t allowance_us, std::span<const Pool> pools = {},
                     std::span<const ReadRequest> others = {});

// Adds the reads of a burst: the processes that changed most since their last reading. Unchanged processes are omitted,
// because reading them shows nothing new.
void add_foremost(std::span<const ReadCandidate> needs, ReadSelection& choice);

}  // namespace memoir
