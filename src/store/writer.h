#pragma once

// Writes ticks: finds out what changed since the tick before, and commits one transaction per tick. One writer per file
// (a lock file beside it, "F.lock", holds its pid), one thread at a time.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/tick.h"
#include "store/database.h"

namespace memoir {

inline constexpr std::int64_t kDayLengthMs = 86'400'000;

// What is kept for how long, 0: for ever. Ages count by the recorder's own clock (stretch.recorded_ms), which nobody
// can set.
struct Retention {
  std::int64_t raw_ms = 7 * kDayLengthMs;
  std::int64_t five_minutes_ms = 60 * kDayLengthMs;
  std::int64_t hour_ms = 400 * kDayLengthMs;
  std::int64_t day_ms = 0;
  std::int64_t max_bytes = 2LL * 1024 * 1024 * 1024;  // of the file with its -wal; 0: without a limit

  bool operator==(const Retention&) const = default;
};

struct RunInfo {
  BootInfo boot;
  std::int32_t pid = 0;
  std::string version;  // of memoird, with its commit
  std::int64_t interval_ms = 0;
  Moment started;
  Retention retention{};
};

// What one call of maintain() did.
struct Maintenance {
  bool more = false;          // there is more to do now
  std::int64_t write_us = 0;  // how long its write transaction took, the wait for the lock left out
};

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
  // again.
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
