#pragma once

// Decides which smaps_rollups are read in this tick, from the process table (pss/read_selection.h) and the CPU budget
// (pss/cpu_budget.h). Also decides which other requests are granted.

#include <cstdint>
#include <span>
#include <vector>

#include "collect/collect_context.h"
#include "collect/process/process_entry.h"
#include "collect/pss/cpu_budget.h"
#include "collect/pss/mapper_changes.h"
#include "collect/pss/pool.h"
#include "collect/pss/read_selection.h"
#include "collect/pss/shared_drift.h"

namespace memoir {

class ReadPlanner {
 public:
  explicit ReadPlanner(std::int64_t share_ppm) : allowance_(share_ppm) {}

  void set_share(std::int64_t share_ppm) { allowance_.set_share(share_ppm); }

  // Makes the next tick read every process.
  void request_all() { all_ = true; }

  // Switches burst mode, in which the most changed processes are read beyond the budget.
  void set_burst(bool closely) { closely_ = closely; }

  // Clears `rollup_due` of the processes that are not read now. Returns the grants for the requests in `others`.
  Grants plan(const Entries& entries, std::span<const ReadRequest> others, CollectContext& context);

  // Call it before the reads, and again after them. Estimates processes without a reading from their siblings
  // (pss/pool.h) and from the machine's mapped memory (pss/shared_drift.h).
  void estimate_shares(const Entries& entries, const CollectContext& context, bool after_reads);

  // Call it at the end of the tick, when its cost is known.
  void spend(const CollectContext& context);

 private:
  void find_pools(const Entries& entries, const CollectContext& context);
  void correct_shares(const Entries& entries, const CollectContext& context, bool after_reads);
  void observe_mappers(const Entries& entries, const CollectContext& context);

  CpuBudget allowance_;
  SharedDrift drift_;
  MapperChanges changes_;
  bool closely_ = false;
  bool all_ = false;
  std::int64_t other_us_ = 0;         // CPU time of the last tick, except reads on demand and in rotation
  std::vector<ReadCandidate> needs_;  // buffer, like the following members
  std::vector<ProcessEntry*> candidates_;
  std::vector<PoolMember> members_;
  std::vector<Pool> pools_;
  std::vector<SharedHolder> holders_;
};

}  // namespace memoir
