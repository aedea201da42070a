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

// Names the file of the failure.
Error copy_error(const CopyPlan& plan, const SQLite::Exception& failure);
Error stopped(const CopyPlan& plan);

// Moves the copy to its path after checking it. SQLite would take files that another database left there for parts of
// it.
Status finish_copy(const CopyPlan& plan, AtomicFile& partial);

// Ends the run that is being recorded, which otherwise has no end in a copy.
void end_open_runs(SQLite::Database& copy);

}  // namespace memoir
