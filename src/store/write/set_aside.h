#pragma once

// A damaged database is moved out of the way, whole: what is in it may still be saved (sqlite3's .recover).

#include <cstdint>
#include <string>

#include "base/result.h"

namespace memoir {

// Renames the file at `path` with its -wal and -shm to "F.damaged-YYYYMMDD-HHMMSS…", in UTC, or with "-2" and so on
// after it where that is taken; the new name of the file. The caller holds the lock, and has none of them open.
Result<std::string> set_aside(const std::string& path, std::int64_t wall_ms);

}  // namespace memoir
