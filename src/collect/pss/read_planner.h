#pragma once

// Decides whose smaps_rollup is read in this tick, from the process table (pss/read_selection.h) and the CPU budget
// (pss/cpu_budget.h), and which requests of others are granted.

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

  // The next tick reads every process.
  void request_all() { all_ = true; }

  // During a burst, the most changed processes are read beyond the budget.
  void set_burst(bool closely) { closely_ = closely; }

  // Leaves only the rollups due that are read now. Returns the granted requests of others.
  Grants plan(const Entries& entries, std::span<const ReadRequest> others, CollectContext& context);

  // Call it before the reads, and again after them: processes without a reading are estimated from their siblings
  // (pss/pool.h), and from the machine's mapped memory (pss/shared_drift.h).
  void estimate_shares(const Entries& entries, const CollectContext& context, bool after_reads);

  // Ends the tick: its cost is known.
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
  std::int64_t other_us_ = 0;         // of the last tick: everything except reads on demand and in rotation
  std::vector<ReadCandidate> needs_;  // reused, like the following members
  std::vector<ProcessEntry*> candidates_;
  std::vector<PoolMember> members_;
  std::vector<Pool> pools_;
  std::vector<SharedHolder> holders_;
};

}  // namespace memoir
