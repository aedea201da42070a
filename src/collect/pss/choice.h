#pragma once

// Whose smaps_rollup is read in a tick. Reading it is dear (10 ms for each GB), and holds up the mmap() of the process
// meanwhile: so those are due of whom not all is known without it, or whose last reading is old; and after a reading a
// process has its rest, the longer the longer that took. What is due is read in the order of what there is to learn, as
// far as the allowance goes. In a burst (burst.h) those that moved most are read beyond that. Pure.

#include <cstdint>
#include <span>
#include <vector>

#include "collect/pss/claim.h"
#include "collect/pss/pool.h"
#include "model/tick.h"

namespace memoir {

// A process that could be read.
struct Need {
  bool unread = false;           // there is no reading of the memory that it has: it is new, or exec'd
  std::int64_t touched_kib = 0;  // since the last reading, as in estimate.h
  double wrong_part = 1;         // of it
  std::int64_t moved_kib = 0;    // of RSS since then, up or down
  std::int64_t rss_kib = 0;
  std::int64_t pss_kib = 0;    // as it is thought to be
  std::int64_t age_ms = 0;     // of the last reading
  Cost cost{};                 // of it
  std::size_t pool = kNoPool;  // among those of choose()

  static constexpr std::size_t kNoPool = static_cast<std::size_t>(-1);
};

// The age at which a reading is too old, though nothing moved: what strangers do (map the same file, merge pages) moves
// no counter of a process.
inline constexpr std::int64_t kGreatestAgeMs = 600'000;
// Then it is of no use any more: nobody could read the process for hours.
inline constexpr std::int64_t kForgottenMs = 12 * kGreatestAgeMs;
// So much longer than a reading took is there none: of the time that a process runs, one in so many parts is held up.
inline constexpr std::int64_t kRest = 2'000;

// In a burst so many processes are read beyond the allowance, for as long as this is left of a tick's own. What it
// costs is earned again in the rest that follows. A process has a shorter rest then: it is held up for a 50th of its
// time at most.
inline constexpr std::size_t kBurstReads = 10;
inline constexpr std::int64_t kBurstReadUs = 20'000;
inline constexpr std::int64_t kBurstRest = 50;

struct Choice {
  std::vector<std::size_t> chosen;  // in the order in which they are to be read
  std::int64_t put_off = 0;         // due as well, but beyond the allowance
  Granted granted;                  // of the claims of others
};

// What reading it will cost, in µs of CPU.
std::int64_t expected_us(const Need& need);

bool due(const Need& need);

// In one order with the claims of others (claim.h): as long as any of the allowance is left, another is read. Of each
// pool of siblings (pool.h) no more are read than it has room for: the others are known by those.
Choice choose(std::span<const Need> needs, std::int64_t allowance_us, std::span<const Pool> pools = {},
              std::span<const Claim> others = {});

// Adds those of a burst: who moved most since it was read. Of who did not move a reading tells nothing new.
void add_foremost(std::span<const Need> needs, Choice& choice);

}  // namespace memoir
