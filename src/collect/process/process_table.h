#pragma once

// The live processes, from tick to tick. Finds starts and exits, distinguishes a reused pid from the earlier process,
// and reads each status unless the census has enough data. Kernel threads are recognised at their start and only
// counted.

#include <cstdint>
#include <memory>
#include <vector>

#include "base/cached_file.h"
#include "census/census.h"
#include "collect/collect_context.h"
#include "collect/process/process_entry.h"
#include "proc/proc_fs.h"

namespace memoir {

class ProcessTable {
 public:
  ProcessTable(std::shared_ptr<const ProcFs> proc, DescriptorBudget& budget)
      : proc_(std::move(proc)), budget_(budget) {}

  // Updates the table from the listed pids (ascending). Reads the status of processes that the census did not observe,
  // which are all of them without a census. The status of incompletely observed processes is read if they changed or it
  // is due.
  void update(const std::vector<std::int32_t>& pids, const std::vector<CensusProcess>* census, CollectContext& context);

  // Merges the pids of the previous tick, including kernel threads, into `pids`; both are ascending.
  void add_known(std::vector<std::int32_t>& pids) const;

  // Reads the status of a process again. Returns false if the process has exited.
  bool refresh(ProcessEntry& entry, CollectContext& context);

  // Removes processes that turned out to have exited after the update.
  void drop_lost(CollectContext& context);

  // The entries, sorted by pid.
  Entries& entries() { return entries_; }

  // Takes a slot to keep one more rollup open. Returns false if no slot is free, or if a status needs one.
  bool take_rollup_slot() { return !short_of_descriptors_ && budget_.take(); }

 private:
  struct KernelThread {
    std::int32_t pid;
    CachedFile statm;
  };

  bool update(ProcessEntry& entry, const CensusProcess* seen, CollectContext& context);
  bool is_kernel_thread(KernelThread& thread, Buffer& buffer);
  void exited(const ProcessEntry& entry, CollectContext& context);
  void birth(std::int32_t pid, CollectContext& context);
  void birth(const CensusProcess& seen, CollectContext& context);
  bool take_status(ProcessEntry& entry, std::string_view text, CollectContext& context);
  void read_thread(ProcessEntry& entry, CollectContext& context);
  static void keep_status(ProcessEntry& entry, const CollectContext& context);
  void take_census(ProcessEntry& entry, const CensusProcess& seen, CollectContext& context);
  void share_descriptors(bool census);

  const std::shared_ptr<const ProcFs> proc_;
  DescriptorBudget& budget_;
  Entries entries_;
  Entries next_;  // buffer of update()
  std::vector<KernelThread> threads_;
  std::vector<KernelThread> next_threads_;
  Buffer check_;
  std::vector<std::int32_t> tids_;  // buffer of read_thread()
  bool short_of_descriptors_ = false;
};

}  // namespace memoir
