#pragma once

// The second part of a tick over the processes: reads that may block (cmdline, exe and others for new or possibly
// changed processes; smaps_rollup of each), and their results: identities, exact memory, execs. A process with a slow
// read is skipped for a while, at first for 10 s, at most for an hour.
//
// An exec keeps pid and start time. It is detected by:
//   - The kernel's events, if available (relatives.h). Certain.
//   - A kept smaps_rollup, which stays with the memory it was opened on and becomes empty while the process lives on.
//     Certain.
//   - Without permitted or kept rollups, and for a child observed within vfork (which shares its parent's memory, so
//     that the descriptor does not become empty): comm or VmExe changed or VmPeak fell (it never does within one
//     memory). Then exe and cmdline are read again. It was an exec if exe differs, or VmPeak fell, or exe is
//     unreadable and both comm and command differ.
//
// Without a kept rollup, an exec into the same executable is missed if it changes neither comm nor VmExe and has at
// least the previous VmPeak. Of several execs between two ticks only one is found. A new comm (prctl) or title
// (setproctitle) alone is no exec; a new comm causes the identity to be read and reported again under the same key.

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

  // `others` are unrelated jobs that may block as well.
  void run(CollectContext& context, Jobs others = {});

  // Texts after the last run.
  const TextBudget& texts() const { return texts_; }
  // CPU time in µs of the last tick's reads, by the uid of the process that was read.
  const std::map<std::uint32_t, std::int64_t>& cpu_of_users() const { return reader_.cpu_of_owners(); }

  // Rollups of other users' processes in the last run: number read, and number denied.
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
  std::size_t cgroups_left_ = 0;                            // that this run may still read again
  std::unordered_map<std::uint32_t, std::size_t> waiting_;  // requested command lines that were deferred before, by uid
  const std::uint32_t own_uid_ = ::geteuid();
  std::int64_t others_read_ = 0;
  std::int64_t others_denied_ = 0;
};

}  // namespace memoir
