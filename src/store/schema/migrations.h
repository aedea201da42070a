#pragma once

// The versions of the schema. schema/001_initial.sql creates version 1; each further file upgrades the version before
// it. The views are those of schema/views.sql.

#include <cstdint>
#include <span>

namespace SQLite {
class Database;
}

namespace memoir {

extern const std::int32_t kSchemaVersion;

// Runs the migrations after version `from`, replaces all views and sets the version, in one transaction. `from` is 0
// for an empty file. Throws SQLite::Exception.
void migrate(SQLite::Database& database, std::int32_t from);

// The same with other migrations, for tests.
void migrate(SQLite::Database& database, std::int32_t from, std::span<const char* const> migrations);

}  // namespace memoir
