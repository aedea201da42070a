#pragma once

// A file of an older schema, read without being changed: what today's schema has and the file lacks is made in the
// connection's TEMP database, whose names come before the file's (sqlite.org/lang_naming.html). All queries and views
// of today then work as they are written, and answer as after an upgrade. The file's own views, which may be anybody's,
// are never asked: each view of today stands before them.
//
// New tables and all views come from today's schema itself; what schema N + 1 changed in a table that was there before,
// schema/compat/00N.sql says.

#include <cstdint>

namespace SQLite {
class Database;
}

namespace memoir {

// `database`: of schema `version`, checked (schema_check.h); nothing is done to one of today's. Throws
// SQLite::Exception.
void present_as_current(SQLite::Database& database, std::int32_t version);

}  // namespace memoir
