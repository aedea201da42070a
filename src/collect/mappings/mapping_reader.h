#pragma once

// Reads the smaps of due processes (mappings/plan.h) at the end of a tick, with its own worker and budget. A late read
// continues beyond the tick, and its result is taken when it finishes. On a machine that swaps, it also finds each
// process's share of the swap of shared mappings.

#include <chrono>
#include <memory>
#include <vector>

#include "collect/collect_context.h"
#include "collect/mappings/co_mappers.h"
#include "collect/mappings/plan.h"
#include "collect/mappings/swap_sweep.h"
#include "collect/process/name_budget.h"
#include "collect/process/process_entry.h"
#include "collect/pss/read_request.h"
#include "collect/worker/blocking_reader.h"
#include "proc/mountinfo.h"
#include "proc/proc_fs.h"

namespace memoir {

class MappingReader {
 public:
  using Mounts = std::shared_ptr<const std::vector<TmpfsMount>>;

  MappingReader(std::shared_ptr<const ProcFs> proc, const MappingLimits& limits, std::chrono::milliseconds deadline)
      : proc_(std::move(proc)), plan_(limits), reader_(deadline) {}

  void set_limits(const MappingLimits& limits) { plan_.set_limits(limits); }

  // Adds a request for the reads due in this tick, with their expected cost, up to their own budget.
  void claim(std::int64_t boot_ms, std::vector<ReadRequest>& claims) const;

  // Call it at the end of a pass over `entries`. Reads `granted` of the due processes, or the processes that `ask`
  // selects. Adds summaries to the tick, and shares of swap to the samples. `names` limits the labels of each user.
  // Without `mounts`, files in a tmpfs count as files.
  void read(const Entries& entries, MappingRequest ask, const Mounts& mounts, NameBudget& names,
            CollectContext& context, std::size_t granted = Grants::kAny);

 private:
  class Job;
  using Jobs = std::vector<std::shared_ptr<Job>>;

  Jobs plan(const Entries& entries, MappingRequest ask, const Mounts& mounts, std::size_t granted,
            CollectContext& context);
  void meet_sharers(const Entries& entries, bool all, const CollectContext& context);
  void plan_sweep(const Entries& entries, bool all, std::size_t most, Jobs& jobs, const Mounts& mounts);
  void take(const std::shared_ptr<Job>& job, NameBudget& names, CollectContext& context);
  void take_back(NameBudget& names, CollectContext& context);
  void share_swap(const Entries& entries, const MachineMemory& machine) const;

  const std::shared_ptr<const ProcFs> proc_;
  MappingPlan plan_;
  SwapSweep sweep_;
  CoMappers co_mappers_;
  std::vector<ProcessKey> changed_;  // processes whose PSS others changed in this tick
  BlockingReader reader_;
  Jobs late_;  // reads beyond their deadline
};

}  // namespace memoir
