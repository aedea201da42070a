#pragma once

// Copies a database while it is recorded: all of it, or one time range. A copy is one file without -wal and -shm,
// synced, and appears completely or not at all; its last run ends with the reason "copied". The source is only read.

#include <functional>
#include <string>

#include "base/atomic_file.h"
#include "base/result.h"
#include "store/types.h"

namespace memoir {

struct CopyPlan {
  std::string from;
  std::string to;
  Existing existing = Existing::keep;
  // Called with the progress in percent. Returning false stops the copy and removes it.
  std::function<bool(int)> progress = [](int) { return true; };
};

// Copies all pages by SQLite's backup API (sqlite.org/backup.html).
Status back_up(const CopyPlan& plan);

// Copies the recording of the range, as if the file had started and ended with it. The copy has the raw rows from the
// preceding keyframe on. If they have expired, it has the rollups, with complete buckets at the ends. It has only the
// processes, commands and other names that these rows need. Returns an error of kind not_found if nothing was recorded
// in the range.
Status extract(const CopyPlan& plan, Range range);

}  // namespace memoir
