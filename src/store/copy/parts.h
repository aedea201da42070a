#pragma once

// What backups and extracts have in common; within the store.

#include <SQLiteCpp/Exception.h>

#include "store/copy/copy.h"

namespace SQLite {
class Database;
}

namespace memoir {

// Percent of the progress at which all is written, and the check of it begins.
inline constexpr int kWritten = 60;

// Whether the copy may be written where it is to be.
Status check_copy(const CopyPlan& plan);

// Names the file that the failure is of.
Error copy_error(const CopyPlan& plan, const SQLite::Exception& failure);
Error stopped(const CopyPlan& plan);

// Puts the copy in its place once it is found sound. SQLite would take what another database has left beside it for a
// part of it.
Status finish_copy(const CopyPlan& plan, PartialFile& partial);

// The run that was recorded into has no end in a copy, unless it is told.
void end_open_runs(SQLite::Database& copy);

}  // namespace memoir
