#pragma once

// Decides of each process whether its smaps_rollup is read in this tick, from what the table knows of it
// (need/choice.h) and what reading may cost (need/allowance.h).

#include <cstdint>
#include <memory>
#include <vector>

#include "collect/need/allowance.h"
#include "collect/need/choice.h"
#include "collect/pass.h"
#include "collect/process_entry.h"

namespace memoir {

class ReadPlanner {
 public:
  explicit ReadPlanner(std::int64_t share_ppm) : allowance_(share_ppm) {}

  void set_share(std::int64_t share_ppm) { allowance_.set_share(share_ppm); }

  // For as long as a burst lasts: who moved most is read beyond what reading may cost.
  void set_closely(bool closely) { closely_ = closely; }

  // Takes the rollup out of the plans of those that are not to be read.
  void plan(const std::vector<std::unique_ptr<ProcessEntry>>& entries, Pass& pass);

  // The tick is over: what it cost is known.
  void spend(const Tick& tick);

 private:
  Allowance allowance_;
  bool closely_ = false;
  std::int64_t other_us_ = 0;  // of the last tick: all that was no reading by need
  std::vector<Need> needs_;    // reused, like what follows
  std::vector<ProcessEntry*> candidates_;
};

}  // namespace memoir
