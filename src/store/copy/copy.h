#pragma once

// Copies of a database, made while it is recorded: the whole of it, or what a range holds. A copy is one file without
// -wal and -shm, synced, and there whole or not at all; its last run ends with the reason "copied". The file that is
// copied is only read.

#include <functional>
#include <string>

#include "base/partial_file.h"
#include "base/result.h"
#include "store/types.h"

namespace memoir {

struct CopyPlan {
  std::string from;
  std::string to;
  Existing existing = Existing::keep;
  // Told how far it is, in percent; false stops it, and nothing is left of it.
  std::function<bool(int)> progress = [](int) { return true; };
};

// All of it, page by page, by SQLite's backup API (sqlite.org/backup.html).
Status back_up(const CopyPlan& plan);

// What was recorded in the range, as if the file had begun with it and ended with it: the raw rows from the keyframe
// before it on; where those are gone the rollups, with whole buckets at the ends; and of processes, commands and other
// names only those that it needs. Nothing recorded in it: an error of kind gone.
Status extract(const CopyPlan& plan, Range range);

}  // namespace memoir
