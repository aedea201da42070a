#pragma once

// Reads the tmpfs mounts that the recorder can reach. A job at each tick reads their usage, and another job walks the
// contents of a due mount (tmpfs/plan.h). A job may block if the path to a mount point crosses a network file system
// whose server is down: that mount is skipped until it responds. The mount table is read again when the kernel signals
// a change.

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
  std::chrono::milliseconds interval{std::chrono::minutes(30)};  // interval of walks of one mount; 0: no walks
  WalkLimits limits = {};

  // Limits the time of a walk, so that it ends well before it counts as stuck.
  static TmpfsOptions within(std::chrono::milliseconds deadline, std::chrono::milliseconds interval) {
    TmpfsOptions options{.interval = interval};
    options.limits.time = std::min(options.limits.time, deadline * 2 / 5);
    return options;
  }
};

class TmpfsReader {
 public:
  // Returns nullopt if the mount is unreachable, or hidden by another mount.
  using Probe = std::function<std::optional<TmpfsUsage>(const TmpfsMount&)>;
  using Walk = std::function<TmpfsTree(const TmpfsMount&, const WalkLimits&)>;

  explicit TmpfsReader(std::shared_ptr<const ProcFs> proc, const TmpfsOptions& options = {}, Probe probe = tmpfs_room,
                       Walk walk = walk_tmpfs);

  void set_interval(std::chrono::milliseconds interval) { plan_.set_interval(interval.count()); }
  // Makes the next tick walk mounts that may have caused an OOM kill.
  void note_oom_kill() { plan_.note_oom_kill(); }
  // Makes the next tick report all values again.
  void report_all() { plan_.report_all(); }

  // Adds a request for this tick's walk with its expected cost, if one is due.
  void claim(std::int64_t boot_ms, std::vector<ReadRequest>& claims) const;

  // Returns the jobs of this tick; none if too many are stuck. `again`: reads the mount table even if it is unchanged.
  // `walk`: whether a walk is permitted.
  std::vector<std::shared_ptr<BlockingJob>> ask(bool again, std::int64_t boot_ms, bool walk = true);
  // Returns the mounts as last read; nullptr if the table is unreadable.
  const std::shared_ptr<const std::vector<TmpfsMount>>& mounts() const { return mounts_; }
  // Adds the results of the jobs to the tick. Results of stuck jobs are absent.
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
  Fd mountinfo_;   // poll(2) on it signals changes of the mounts
  Mounts mounts_;  // nullptr if the table must be read
  std::shared_ptr<MountsJob> mounts_job_;
  std::shared_ptr<WalkJob> walk_job_;
  std::vector<std::shared_ptr<MountsJob>> stuck_scans_;
  std::vector<std::shared_ptr<WalkJob>> stuck_walks_;
};

}  // namespace memoir
