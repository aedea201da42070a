#pragma once

// Refuses a file if its schema differs from the one created by the migrations. A file may come from anywhere, and
// SQLite runs the SQL in its schema: a view may never end, and a trigger or an expression index may do anything that
// SQL can.

#include <string>

#include "base/result.h"

namespace SQLite {
class Database;
}

namespace memoir {

// Fails with the name of the object that differs in `database`, the file at `path`. The tables of ANALYZE are
// accepted, because they only contain data.
Status check_schema(SQLite::Database& database, const std::string& path);

// Call it before the first query of an untrusted file. SQL in the file can then not change its schema, call unsafe
// functions, or create longer texts than the recorder writes.
void harden(SQLite::Database& database);

}  // namespace memoir
