#pragma once

// A file comes from anywhere, and what its schema says is run by whoever asks it: a view may go on forever, a trigger
// or an index of an expression may do anything that SQL can. So it has to be the very schema that our migrations make.

#include <cstdint>
#include <string>

#include "base/result.h"

namespace SQLite {
class Database;
}

namespace memoir {

// Whether `database`, the file at `path`, has the schema of `version` and nothing else; the error names the object that
// differs. What ANALYZE leaves is taken as well: it is data. So are the views of an older version, which are never
// asked: a reader puts today's before them (older_schema.h), a writer drops them (migrations.h).
Status check_schema(SQLite::Database& database, const std::string& path, std::int32_t version);

// Before the first query of a file that is not trusted: it may not change its own schema, nor call what is not
// harmless, nor make texts longer than any that we write.
void distrust(SQLite::Database& database);

}  // namespace memoir
