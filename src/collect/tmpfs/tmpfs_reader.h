#pragma once

// Reads the tmpfs mounts visible to the recorder: their usage, by a job at each tick, and their contents, by a job that
// walks a due mount (tmpfs/plan.h). Reaching a mount point below one of a dead server may block: such a mount is
// skipped until it answers. The mount table is read again when the kernel signals a change.

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "collect/collect_context.h"
#include "collect/process/name_budget.h"
#include "collect/pss/read_request.h"
#include "collect/tmpfs/plan.h"
#include "collect/tmpfs/walk.h"
#include "collect/worker/blocking_reader.h"
#include "proc/mountinfo.h"
#include "proc/proc_fs.h"
#include "proc/tmpfs.h"

namespace memoir {

struct TmpfsOptions {
  std::chrono::milliseconds interval{std::chrono::minutes(30)};  // between walks of a mount; 0: none
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
  // nullopt if it is unreachable, or hidden by another mount.
  using Probe = std::function<std::optional<TmpfsUsage>(const TmpfsMount&)>;
  using Walk = std::function<TmpfsTree(const TmpfsMount&, const WalkLimits&)>;

  explicit TmpfsReader(std::shared_ptr<const ProcFs> proc, const TmpfsOptions& options = {}, Probe probe = tmpfs_room,
                       Walk walk = walk_tmpfs);

  void set_interval(std::chrono::milliseconds interval) { plan_.set_interval(interval.count()); }
  // The next tick walks mounts that may be the cause.
  void note_oom_kill() { plan_.note_oom_kill(); }
  // The next tick reports all values again.
  void report_all() { plan_.report_all(); }

  // Adds the expected cost of this tick's walk, if one is due.
  void claim(std::int64_t boot_ms, std::vector<ReadRequest>& claims) const;

  // Returns the jobs of this tick; none if too many are stuck already. `again`: the mount table is read in any case.
  // `walk`: a walk is allowed.
  std::vector<std::shared_ptr<BlockingJob>> ask(bool again, std::int64_t boot_ms, bool walk = true);
  // As last read; nullptr if unreadable.
  const std::shared_ptr<const std::vector<TmpfsMount>>& mounts() const { return mounts_; }
  // Adds the results of the jobs to the tick. Stuck jobs leave them absent.
  void take(NameBudget& names, CollectContext& context);

 private:
  using Mounts = std::shared_ptr<const std::vector<TmpfsMount>>;
  class MountsJob;
  class WalkJob;

  bool mounts_changed();
  void take_scan(CollectContext& context);
  void take_walk(NameBudget& names, CollectContext& context);

  const std::shared_ptr<const ProcFs> proc_;
  const WalkLimits limits_;
  const Probe probe_;
  const Walk walk_;
  TmpfsPlan plan_;
  Fd mountinfo_;   // signals changes
  Mounts mounts_;  // nullptr: must be read
  std::shared_ptr<MountsJob> mounts_job_;
  std::shared_ptr<WalkJob> walk_job_;
  std::vector<std::shared_ptr<MountsJob>> stuck_scans_;
  std::vector<std::shared_ptr<WalkJob>> stuck_walks_;
};

}  // namespace memoir
