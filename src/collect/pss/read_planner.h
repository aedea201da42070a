#pragma once

// Decides of each process whether its smaps_rollup is read in this tick, from what the table knows of it
// (pss/choice.h) and what reading may cost (pss/allowance.h); and what else is read, of what others claim.

#include <cstdint>
#include <span>
#include <vector>

#include "collect/pass.h"
#include "collect/process/process_entry.h"
#include "collect/pss/allowance.h"
#include "collect/pss/choice.h"
#include "collect/pss/pool.h"

namespace memoir {

class ReadPlanner {
 public:
  explicit ReadPlanner(std::int64_t share_ppm) : allowance_(share_ppm) {}

  void set_share(std::int64_t share_ppm) { allowance_.set_share(share_ppm); }

  // For as long as a burst lasts: who moved most is read beyond what reading may cost.
  void set_closely(bool closely) { closely_ = closely; }

  // Leaves those rollups due that are to be read now, and says what is granted of the claims of others.
  Granted plan(const Entries& entries, std::span<const Claim> others, Pass& pass);

  // After they were read: what of a pool of siblings (pss/pool.h) was not is estimated by what was.
  void estimate_pools(const Entries& entries, const Pass& pass);

  // The tick is over: what it cost is known.
  void spend(const Pass& pass);

 private:
  void find_pools(const Entries& entries, const Pass& pass);

  Allowance allowance_;
  bool closely_ = false;
  std::int64_t other_us_ = 0;  // of the last tick: all that was not read by need or in turn
  std::vector<Need> needs_;    // reused, like what follows
  std::vector<ProcessEntry*> candidates_;
  std::vector<PoolMember> members_;
  std::vector<Pool> pools_;
};

}  // namespace memoir
