#pragma once

// Writes ticks: finds out what changed since the tick before, and commits one transaction per tick. One writer per file
// (a lock file beside it, "F.lock", holds its pid), one thread at a time.

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/tick.h"
#include "store/types.h"

namespace memoir {

class Writer {
 public:
  // Takes the lock, opens the database and marks a run that was never closed as ended uncleanly. Refused if another
  // recorder holds the lock: the error names its pid.
  static Result<std::unique_ptr<Writer>> open(const std::string& path, Durability durability);

  // The same under a lock that the caller holds; what was never closed is left to begin_run(), on a thread that has
  // time for it.
  static Result<std::unique_ptr<Writer>> open_locked(const std::string& path, Durability durability);

  virtual ~Writer() = default;

  // Processes that lived at the end of an earlier run in this boot.
  virtual Result<std::vector<KnownProcess>> known_processes(const std::string& boot_id) = 0;

  // Begins a run: events for an unclean end and a gap are written with it, and from now on its retention holds. The
  // first tick of a run is a keyframe.
  virtual Status begin_run(const RunInfo& run) = 0;

  // Stores one tick. On an error nothing of it is stored, the writer stays usable, and the same tick may be written
  // again; not one that is refused (ErrorKind::refused), after which the next tick is written like the first of a run.
  virtual Status write(const Tick& tick) = 0;

  virtual Status write_event(const Event& event) = 0;

  // One bounded piece of what is to be done between ticks: a step of the rollups, a batch of retention, some pages of
  // vacuum; or, outside of any transaction, what the -wal holds is brought home. At most a few tens of milliseconds in
  // one write transaction. Called again as long as there is more, when no tick waits. On an error nothing of the piece
  // is stored.
  virtual Result<Maintenance> maintain() = 0;

  // Ends the run with a reason in one word (stopped, duration, once, reload), writes what is buffered (high-water
  // marks).
  virtual Status end_run(const Moment& at, const std::string& reason) = 0;
};

}  // namespace memoir
