#pragma once

// The second part of a tick over the processes. It makes the reads that may block: cmdline, exe and other files of
// processes that are new or may have changed, and smaps_rollup. Their results are identities, exact memory and execs. A
// process with a slow read is skipped, at first for 10 s, at most for an hour.
//
// An exec keeps pid and start time. It is detected in three ways:
//   - Certain: by the kernel's events, if available (relatives.h).
//   - Certain: by a kept smaps_rollup. It stays with the memory for which it was opened, and becomes empty while the
//     process still runs.
//   - Otherwise, if comm or VmExe changed, or VmPeak fell (which never happens within one memory), exe and cmdline are
//     read again. It was an exec if exe differs, or VmPeak fell, or exe is unreadable and both comm and command differ.
//     This is needed without permitted or kept rollups. It is also needed for a child that was observed within vfork:
//     it shares its parent's memory, so the descriptor does not become empty.
//
// Without a kept rollup, an exec into the same executable is missed if comm and VmExe are unchanged and VmPeak has not
// fallen. If there are several execs between two ticks, only one is found. A new comm (prctl) or title (setproctitle)
// alone is not an exec. A new comm causes the identity to be read and reported again under the same key.

#include <cstdint>
#include <memory>
#include <unistd.h>
#include <unordered_map>
#include <vector>

#include "collect/collect_context.h"
#include "collect/process/process_resolver.h"
#include "collect/process/process_table.h"
#include "collect/process/text_budget.h"
#include "collect/worker/blocking_reader.h"

namespace memoir {

class ProcessDetails {
 public:
  ProcessDetails(std::shared_ptr<const ProcFs> proc, ProcessTable& table, ProcessResolver& identifier,
                 CategoryTotals& totals, std::chrono::milliseconds deadline);

  using Jobs = std::vector<std::shared_ptr<BlockingJob>>;

  // Reads and reports all processes of the table. `others` are unrelated jobs that may block as well.
  void run(CollectContext& context, Jobs others = {});

  // Returns the budget of the texts after the last run.
  const TextBudget& texts() const { return texts_; }
  // Returns the CPU time in µs of the last tick's reads, by the uid of the process that was read.
  const std::map<std::uint32_t, std::int64_t>& cpu_of_users() const { return reader_.cpu_of_owners(); }

  // Return how many rollups of other users' processes the last run read, and how many were denied.
  std::int64_t others_read() const { return others_read_; }
  std::int64_t others_denied() const { return others_denied_; }

 private:
  static void begin(ProcessEntry& entry, bool keyframe);
  static bool left_out(ProcessEntry& entry, const BlockingJob* job, const CollectContext& context);
  static void leave_out(ProcessEntry& entry, const CollectContext& context);
  void ask_rollup(ProcessEntry& entry, Jobs& jobs, CollectContext& context);
  void ask_identity(ProcessEntry& entry, Jobs& jobs, const CollectContext& context);
  bool waits_in_vain(const ProcessEntry& entry);
  void take_rollup(ProcessEntry& entry, CollectContext& context);
  void take_failure(ProcessEntry& entry, CollectContext& context);
  void count_denied(const ProcessEntry& entry, CollectContext& context);
  static void take_exact(ProcessEntry& entry, CollectContext& context);
  void find_exec(ProcessEntry& entry) const;
  bool runs_another(const ProcessEntry& entry) const;
  void take_identity(ProcessEntry& entry, CollectContext& context);
  void report(ProcessEntry& entry, ProcessInfo info, CollectContext& context);

  const std::shared_ptr<const ProcFs> proc_;
  ProcessTable& table_;
  ProcessResolver& identifier_;
  CategoryTotals& totals_;
  TextBudget texts_;
  BlockingReader reader_;
  std::size_t cgroups_left_ = 0;  // number of cgroups that this run may still read again
  // Number of requests for command lines that were deferred before, by uid.
  std::unordered_map<std::uint32_t, std::size_t> waiting_;
  const std::uint32_t own_uid_ = ::geteuid();
  std::int64_t others_read_ = 0;
  std::int64_t others_denied_ = 0;
};

}  // namespace memoir
