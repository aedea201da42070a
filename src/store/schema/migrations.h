#pragma once

// The schema's versions. schema/001_initial.sql makes the tables of version 1; each further file takes the one before
// it up by one. All views are those of schema/views.sql.

#include <cstdint>

namespace SQLite {
class Database;
}

namespace memoir {

extern const std::int32_t kSchemaVersion;

// The versions that have identities, and digests of command lines; SQL alone cannot tell what they are.
inline constexpr std::int32_t kIdentities = 2;
inline constexpr std::int32_t kLineDigests = 11;

// Brings a database of version `from` up to date in one transaction, its views too.
void migrate(SQLite::Database& database, std::int32_t from);

}  // namespace memoir
