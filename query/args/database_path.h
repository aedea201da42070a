#pragma once

#include <string>

#include "base/result.h"

namespace memoir::query {

// The file to read: --db, $MEMOIR_DB, /var/lib/memoir/memoir.db, $XDG_DATA_HOME/memoir/memoir.db; of the last two the
// first that exists. The error lists the places and how to get a file.
Result<std::string> find_database(const std::string& option);

}  // namespace memoir::query
