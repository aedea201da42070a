#pragma once

// Refuses a file whose schema differs from the one that our migrations create. A file may come from anywhere, and
// SQLite runs the SQL in its schema: a view may never end, a trigger or an index of an expression may do anything that
// SQL can.

#include <string>

#include "base/result.h"

namespace SQLite {
class Database;
}

namespace memoir {

// Fails with the name of the object that differs in `database`, the file at `path`. The tables of ANALYZE are accepted:
// they hold data.
Status check_schema(SQLite::Database& database, const std::string& path);

// Before the first query of a file that is not trusted: it may not change its own schema, nor call what is not
// harmless, nor make texts longer than any that we write.
void distrust(SQLite::Database& database);

}  // namespace memoir
