#pragma once

// Identities with when they were seen.

#include <vector>

#include "store/reader.h"

namespace SQLite {
class Database;
}

namespace memoir {

// Those that were seen in the range, by id.
std::vector<StoredIdentity> load_identities(SQLite::Database& database, Range range);

}  // namespace memoir
