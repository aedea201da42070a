#pragma once

// A file of an older schema, read without being changed: what today's schema has and the file lacks is made in the
// connection's TEMP database, whose names come before the file's (sqlite.org/lang_naming.html). All queries and views
// of today then work as they are written, and answer as after an upgrade.
//
// New tables and all views come from today's schema itself; what schema N + 1 changed in a table that was there before,
// schema/compat/00N.sql says.

#include <cstdint>

namespace SQLite {
class Database;
}

namespace memoir {

// `database`: opened read-only, of schema `version`, which is older than kSchemaVersion; temp_store is memory. Throws
// SQLite::Exception.
void present_as_current(SQLite::Database& database, std::int32_t version);

}  // namespace memoir
