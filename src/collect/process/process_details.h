#pragma once

// The second part of a tick over the processes: what may block (cmdline, exe and the like of those that are new or may
// have changed; smaps_rollup of each), and what follows from it: identities, exact memory, execs. A process whose read
// overstayed its time is left out for a while, at first for 10 s, in the end for an hour.
//
// An exec keeps pid and start time. What shows it:
//   - the kernel's events, where there are any (kin.h). Certain.
//   - a kept smaps_rollup stays with the memory it was opened on; it falls silent while the process lives on. Certain.
//   - Where rollups are not permitted or not kept, and for a child seen within vfork (which shares its parent's memory,
//     so that the descriptor does not fall silent): comm or VmExe changed or VmPeak fell (it never does within one
//     memory). Then exe and cmdline are read again, and it was an exec if exe is another one, or VmPeak fell, or exe
//     cannot be read and both comm and command are others.
// Missed is, without a kept rollup, an exec into the same executable that changes neither comm nor VmExe and has at
// least the VmPeak of before; and of several execs between two ticks all but one. A new comm (prctl) or title
// (setproctitle) alone is no exec; a new comm makes the identity be read and told again under the same key.

#include <cstdint>
#include <memory>
#include <unistd.h>
#include <vector>

#include "collect/pass.h"
#include "collect/process/identifier.h"
#include "collect/process/process_table.h"
#include "collect/worker/blocking_reader.h"

namespace memoir {

class ProcessDetails {
 public:
  ProcessDetails(std::shared_ptr<const ProcFs> proc, ProcessTable& table, Identifier& identifier,
                 CategoryTotals& totals, std::chrono::milliseconds deadline);

  using Jobs = std::vector<std::shared_ptr<BlockingJob>>;

  // With `others`, which have nothing to do with processes but may block as well.
  void run(Pass& pass, Jobs others = {});

  // Rollups of other users' processes in the last run: read, and not permitted.
  std::int64_t others_read() const { return others_read_; }
  std::int64_t others_denied() const { return others_denied_; }

 private:
  static void begin(ProcessEntry& entry, bool keyframe);
  static bool left_out(ProcessEntry& entry, const BlockingJob* job, const Pass& pass);
  static void leave_out(ProcessEntry& entry, const Pass& pass);
  void ask_rollup(ProcessEntry& entry, Jobs& jobs, Pass& pass);
  void ask_identity(ProcessEntry& entry, Jobs& jobs, const Pass& pass);
  void take_rollup(ProcessEntry& entry, Pass& pass);
  void take_failure(ProcessEntry& entry, Pass& pass);
  void count_denied(const ProcessEntry& entry, Pass& pass);
  static void take_exact(ProcessEntry& entry, Pass& pass);
  void find_exec(ProcessEntry& entry) const;
  bool runs_another(const ProcessEntry& entry) const;
  void take_identity(ProcessEntry& entry, Pass& pass);
  void tell(ProcessEntry& entry, ProcessInfo info, Pass& pass);

  const std::shared_ptr<const ProcFs> proc_;
  ProcessTable& table_;
  Identifier& identifier_;
  CategoryTotals& totals_;
  BlockingReader reader_;
  std::size_t cgroups_left_ = 0;  // that this run may look up again
  const std::uint32_t own_uid_ = ::geteuid();
  std::int64_t others_read_ = 0;
  std::int64_t others_denied_ = 0;
};

}  // namespace memoir
