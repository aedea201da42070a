#pragma once

// Identities with when they were seen.

#include <optional>
#include <vector>

#include "store/types.h"

namespace SQLite {
class Database;
}

namespace memoir {

// Reader::identities(), by id.
std::vector<StoredIdentity> load_identities(SQLite::Database& database, std::optional<Range> range);

}  // namespace memoir
