#pragma once

// The schema's versions. schema/001_initial.sql makes version 1; each further file takes the one before it up by one.

#include <cstdint>
#include <memory>

namespace SQLite {
class Database;
}

namespace memoir {

extern const std::int32_t kSchemaVersion;

// The version that has identities; SQL alone cannot tell what they are.
inline constexpr std::int32_t kIdentities = 2;

// Brings a database of version `from` up to date, each step with its version in one transaction.
void migrate(SQLite::Database& database, std::int32_t from);

// One in memory, of that version, without a row of ours.
std::unique_ptr<SQLite::Database> empty_database(std::int32_t version);

}  // namespace memoir
