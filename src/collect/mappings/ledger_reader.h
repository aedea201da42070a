#pragma once

// Reads the smaps of those whose turn it is (mappings/plan.h), after all else of a tick, by a worker of its own: what
// it takes is not taken from the reads of anybody. A reading that overstays its time goes on beside the ticks, and is
// taken when it is back. Also finds each process's share of the swap of shared mappings, on a machine that swaps.

#include <chrono>
#include <memory>
#include <vector>

#include "collect/mappings/plan.h"
#include "collect/mappings/swap_sweep.h"
#include "collect/pass.h"
#include "collect/process/name_budget.h"
#include "collect/process/process_entry.h"
#include "collect/pss/claim.h"
#include "collect/worker/blocking_reader.h"
#include "proc/mountinfo.h"
#include "proc/proc_fs.h"

namespace memoir {

class LedgerReader {
 public:
  using Mounts = std::shared_ptr<const std::vector<TmpfsMount>>;

  LedgerReader(std::shared_ptr<const ProcFs> proc, const LedgerLimits& limits, std::chrono::milliseconds deadline)
      : proc_(std::move(proc)), plan_(limits), reader_(deadline) {}

  void set_limits(const LedgerLimits& limits) { plan_.set_limits(limits); }

  // What the readings of a tick will cost, for as many as their own budget allows.
  void claim(std::int64_t boot_ms, std::vector<Claim>& claims) const;

  // At the end of a pass over `entries`: ledgers into the tick, shares of swap into the samples. `names` bounds the
  // labels of each user. Without `mounts` files in a tmpfs count as files. Of those whose turn it is `granted` are
  // read.
  void read(const Entries& entries, LedgerAsk ask, const Mounts& mounts, NameBudget& names, Pass& pass,
            std::size_t granted = Granted::kAny);

 private:
  class Job;
  using Jobs = std::vector<std::shared_ptr<Job>>;

  Jobs plan(const Entries& entries, LedgerAsk ask, const Mounts& mounts, std::size_t granted, Pass& pass);
  void plan_sweep(const Entries& entries, std::size_t most, Jobs& jobs, const Mounts& mounts, const Pass& pass);
  void take(const std::shared_ptr<Job>& job, NameBudget& names, Pass& pass);
  void take_back(NameBudget& names, Pass& pass);
  void share_swap(const Entries& entries) const;

  const std::shared_ptr<const ProcFs> proc_;
  LedgerPlan plan_;
  SwapSweep sweep_;
  BlockingReader reader_;
  Jobs late_;  // overstayed their time
};

}  // namespace memoir
