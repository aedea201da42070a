#pragma once

// Writes ticks: finds the changes since the previous tick, and commits one transaction per tick. One writer per file (a
// lock file next to it, "F.lock", has its pid), one thread at a time.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/known_name.h"
#include "model/tick.h"
#include "store/types.h"

namespace memoir {

class Writer {
 public:
  // Takes the lock, opens the database and marks a run that was never closed as ended uncleanly. Returns an error with
  // the other recorder's pid if another recorder holds the lock.
  static Result<std::unique_ptr<Writer>> open(const std::string& path, Durability durability);

  // Opens the database under a lock that the caller holds. Leaves unclosed runs to begin_run(), which runs on a thread
  // that has time for them.
  static Result<std::unique_ptr<Writer>> open_locked(const std::string& path, Durability durability);

  virtual ~Writer() = default;

  // Returns the processes that ran at the end of an earlier run in this boot.
  virtual Result<std::vector<KnownProcess>> known_processes(const std::string& boot_id) = 0;

  // Visits the names of the newest processes that were first observed since that time, each combination once, the
  // oldest first.
  virtual Status visit_names(std::int64_t since_ms, const std::function<void(const KnownName&)>& visit) = 0;

  // Starts a run: writes events for an unclean end and a gap, and applies its retention. The first tick of a run is a
  // keyframe.
  virtual Status begin_run(const RunInfo& run) = 0;

  // Stores one tick. After an error nothing of the tick is stored, the writer stays usable, and the same tick may be
  // written again. A refused tick (ErrorKind::refused) may not be written again; the next tick is written like the
  // first of a run.
  virtual Status write(const Tick& tick) = 0;

  virtual Status write_event(const Event& event) = 0;

  // Runs one limited piece of maintenance between ticks: a rollup step, a batch of retention, some pages of vacuum; or,
  // outside of any transaction, a checkpoint. A write transaction takes at most a few tens of milliseconds. Call it
  // again while there is more to do and no tick waits. After an error nothing of the piece is stored.
  virtual Result<Maintenance> maintain() = 0;

  // Ends the run with a one-word reason (stopped, duration, once, reload), and writes buffered high-water marks.
  virtual Status end_run(const Moment& at, const std::string& reason) = 0;
};

}  // namespace memoir
