#pragma once

#include <string>

#include "base/result.h"

namespace memoir::query {

// Returns the path of the file to read: the value of --db, or else of $MEMOIR_DB. Without both, returns the first
// existing file of /var/lib/memoir/memoir.db and $XDG_DATA_HOME/memoir/memoir.db. The error lists these paths and says
// how to get a file.
Result<std::string> find_database(const std::string& option);

}  // namespace memoir::query
