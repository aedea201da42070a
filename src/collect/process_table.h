#pragma once

// The processes that live, from tick to tick: finds births and exits, tells a reused pid from the process that had it,
// and reads the status of each. Kernel threads are recognised at birth and only counted.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "collect/kept_file.h"
#include "collect/pass.h"
#include "collect/process_entry.h"
#include "proc/proc_fs.h"

namespace memoir {

class ProcessTable {
 public:
  ProcessTable(std::shared_ptr<const ProcFs> proc, DescriptorBudget& budget)
      : proc_(std::move(proc)), budget_(budget) {}

  // Brings the table up to date with the pids listed (ascending), and reads the status of all.
  void update(const std::vector<std::int32_t>& pids, Pass& pass);

  // Reads the status of one again. False: it is gone.
  bool refresh(ProcessEntry& entry, Pass& pass);

  // Takes out those that were found to be lost after the update.
  void drop_lost(Pass& pass);

  // Sorted by pid.
  std::vector<std::unique_ptr<ProcessEntry>>& entries() { return entries_; }

  // A slot for one more kept rollup; none while a status has to do without.
  bool take_rollup_slot() { return !short_of_descriptors_ && budget_.take(); }

 private:
  struct KernelThread {
    std::int32_t pid;
    KeptFile statm;
  };

  bool is_kernel_thread(KernelThread& thread, Buffer& buffer);
  void exited(const ProcessEntry& entry, Pass& pass);
  void birth(std::int32_t pid, Pass& pass);
  bool take_status(ProcessEntry& entry, std::string_view text, Pass& pass);
  void share_descriptors();

  const std::shared_ptr<const ProcFs> proc_;
  DescriptorBudget& budget_;
  std::vector<std::unique_ptr<ProcessEntry>> entries_;
  std::vector<std::unique_ptr<ProcessEntry>> next_;  // reused
  std::vector<KernelThread> threads_;
  std::vector<KernelThread> next_threads_;
  Buffer check_;
  bool short_of_descriptors_ = false;
};

}  // namespace memoir
