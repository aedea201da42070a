#pragma once

// Common parts of backups and extracts; internal to the store.

#include <SQLiteCpp/Exception.h>

#include "store/copy/copy.h"

namespace SQLite {
class Database;
}

namespace memoir {

// Progress in percent when everything is written and the check starts.
inline constexpr int kWritten = 60;

// Checks that the copy may be written to its path.
Status check_copy(const CopyPlan& plan);

// Returns an error that names the file that failed: the source or the copy.
Error copy_error(const CopyPlan& plan, const SQLite::Exception& failure);
Error stopped(const CopyPlan& plan);

// Moves the copy to its path after checking it. First deletes the -wal, -shm and -journal that another database left
// there, because SQLite would take them for parts of the copy.
Status finish_copy(const CopyPlan& plan, AtomicFile& partial);

// Ends the run that was being recorded when it was copied.
void end_open_runs(SQLite::Database& copy);

}  // namespace memoir
