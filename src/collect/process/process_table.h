#pragma once

// The processes that live, from tick to tick: finds births and exits, tells a reused pid from the process that had it,
// and reads the status of each, but for those of whom a census tells enough. Kernel threads are recognised at birth and
// only counted.

#include <cstdint>
#include <memory>
#include <vector>

#include "base/kept_file.h"
#include "census/census.h"
#include "collect/pass.h"
#include "collect/process/process_entry.h"
#include "proc/proc_fs.h"

namespace memoir {

class ProcessTable {
 public:
  ProcessTable(std::shared_ptr<const ProcFs> proc, DescriptorBudget& budget)
      : proc_(std::move(proc)), budget_(budget) {}

  // Brings the table up to date with the pids listed (ascending). The status of those that the census did not see is
  // read: all of them, where there is none; of those that it did not see whole, where they moved or it is due.
  void update(const std::vector<std::int32_t>& pids, const std::vector<CensusProcess>* census, Pass& pass);

  // Adds those that were there in the tick before, kernel threads too, to pids; all ascending.
  void add_known(std::vector<std::int32_t>& pids) const;

  // Reads the status of one again. False: it is gone.
  bool refresh(ProcessEntry& entry, Pass& pass);

  // Takes out those that were found to be lost after the update.
  void drop_lost(Pass& pass);

  // Sorted by pid.
  Entries& entries() { return entries_; }

  // A slot for one more kept rollup; none while a status has to do without.
  bool take_rollup_slot() { return !short_of_descriptors_ && budget_.take(); }

 private:
  struct KernelThread {
    std::int32_t pid;
    KeptFile statm;
  };

  bool update(ProcessEntry& entry, const CensusProcess* seen, Pass& pass);
  bool is_kernel_thread(KernelThread& thread, Buffer& buffer);
  void exited(const ProcessEntry& entry, Pass& pass);
  void birth(std::int32_t pid, Pass& pass);
  void birth(const CensusProcess& seen, const Pass& pass);
  bool take_status(ProcessEntry& entry, std::string_view text, Pass& pass);
  static void keep_status(ProcessEntry& entry, const Pass& pass);
  static void take_census(ProcessEntry& entry, const CensusProcess& seen, const Pass& pass);
  void share_descriptors(bool census);

  const std::shared_ptr<const ProcFs> proc_;
  DescriptorBudget& budget_;
  Entries entries_;
  Entries next_;  // reused
  std::vector<KernelThread> threads_;
  std::vector<KernelThread> next_threads_;
  Buffer check_;
  bool short_of_descriptors_ = false;
};

}  // namespace memoir
