#pragma once

// The tmpfs mounts that the recorder sees: how full they are, by a job of its own at each tick; and what lies in them,
// by one that walks a mount, where it is one's turn (tmpfs/plan.h). To reach a mount point below one of a dead server
// may block: a mount that does not answer is left out until it does. The table of mounts is read again when the kernel
// says that it changed.

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "collect/pass.h"
#include "collect/process/name_budget.h"
#include "collect/pss/claim.h"
#include "collect/tmpfs/plan.h"
#include "collect/tmpfs/walk.h"
#include "collect/worker/blocking_reader.h"
#include "proc/mountinfo.h"
#include "proc/proc_fs.h"
#include "proc/tmpfs.h"

namespace memoir {

struct TmpfsOptions {
  std::chrono::milliseconds interval{std::chrono::minutes(30)};  // of the walks of a mount; 0: none
  WalkLimits limits = {};

  // A walk ends well before it counts as stuck.
  static TmpfsOptions within(std::chrono::milliseconds deadline, std::chrono::milliseconds interval) {
    TmpfsOptions options{.interval = interval};
    options.limits.time = std::min(options.limits.time, deadline * 2 / 5);
    return options;
  }
};

class TmpfsReader {
 public:
  // Absent: it cannot be reached, or is hidden by another mount.
  using Look = std::function<std::optional<TmpfsRoom>(const TmpfsMount&)>;
  using Walk = std::function<TmpfsTree(const TmpfsMount&, const WalkLimits&)>;

  explicit TmpfsReader(std::shared_ptr<const ProcFs> proc, const TmpfsOptions& options = {}, Look look = tmpfs_room,
                       Walk walk = walk_tmpfs);

  void set_interval(std::chrono::milliseconds interval) { plan_.set_interval(interval.count()); }
  // All is told again by the next tick.
  void tell_all() { plan_.tell_all(); }

  // What the walk of this tick will cost, if it is one's turn.
  void claim(std::int64_t boot_ms, std::vector<Claim>& claims) const;

  // The jobs of this tick; none where too many are stuck already. `again`: the table of mounts is read in any case.
  // `walk`: one may be walked.
  std::vector<std::shared_ptr<BlockingJob>> ask(bool again, std::int64_t boot_ms, bool walk = true);
  // As they were read last; nullptr where they could not be.
  const std::shared_ptr<const std::vector<TmpfsMount>>& mounts() const { return mounts_; }
  // After they were run: into the tick. Absent where they did not come back.
  void take(NameBudget& names, Pass& pass);

 private:
  using Mounts = std::shared_ptr<const std::vector<TmpfsMount>>;
  class LookJob;
  class WalkJob;

  bool mounts_changed();
  void take_look(Pass& pass);
  void take_walk(NameBudget& names, Pass& pass);

  const std::shared_ptr<const ProcFs> proc_;
  const WalkLimits limits_;
  const Look look_;
  const Walk walk_;
  TmpfsPlan plan_;
  Fd mountinfo_;   // to be told of changes
  Mounts mounts_;  // nullptr: to be read
  std::shared_ptr<LookJob> look_job_;
  std::shared_ptr<WalkJob> walk_job_;
  std::vector<std::shared_ptr<LookJob>> stuck_looks_;
  std::vector<std::shared_ptr<WalkJob>> stuck_walks_;
};

}  // namespace memoir
