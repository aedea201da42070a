#pragma once

// What the tmpfs mounts hold, by a job of its own at each tick: to reach a mount point below one of a dead server may
// block. A mount that does not answer is left out until it does. The table of mounts is read again when the kernel says
// that it changed.

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "collect/blocking_reader.h"
#include "collect/pass.h"
#include "proc/mountinfo.h"
#include "proc/proc_fs.h"
#include "proc/tmpfs.h"

namespace memoir {

class TmpfsReader {
 public:
  // Absent: it cannot be reached, or is hidden by another mount.
  using UsedKib = std::function<std::optional<std::int64_t>(const TmpfsMount&)>;

  explicit TmpfsReader(std::shared_ptr<const ProcFs> proc, UsedKib used_kib = tmpfs_used_kib)
      : proc_(std::move(proc)), used_kib_(std::move(used_kib)) {}

  // The job of this tick; nullptr where too many are stuck already. `again`: the table of mounts is read in any case.
  std::shared_ptr<BlockingJob> ask(bool again);
  // After it was run: into the tick. Absent where it did not come back.
  void take(Pass& pass);

 private:
  using Mounts = std::shared_ptr<const std::vector<TmpfsMount>>;
  class Job;

  bool mounts_changed();

  const std::shared_ptr<const ProcFs> proc_;
  const UsedKib used_kib_;
  Fd mountinfo_;   // to be told of changes
  Mounts mounts_;  // nullptr: to be read
  std::shared_ptr<Job> job_;
  std::vector<std::shared_ptr<Job>> stuck_;
};

}  // namespace memoir
