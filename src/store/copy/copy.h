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

// Copies what was recorded in the range, as if the file had started and ended with it: the raw rows from the preceding
// keyframe on. If those have expired, the rollups, with complete buckets at the ends. Processes, commands and other
// names only as far as needed. An error of kind not_found if nothing was recorded in the range.
Status extract(const CopyPlan& plan, Range range);

}  // namespace memoir
