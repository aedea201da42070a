#pragma once

// One SQLite database of ours: opened, checked and set up.

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "store/sqlite/file_owner.h"
#include "store/sqlite/statement.h"
#include "store/types.h"

namespace memoir {

// Whose the file at `path` is: ours or nobody's yet, else refused. Nothing is written, beside the file neither. A file
// of ours whose header cannot be read any more is damaged.
Status check_owner(const std::string& path);

// Whether a database can lie there: its folder exists, and it is no directory itself.
Status check_place(const std::string& path);

// For the recorder: creates the file if it is not there, sets WAL, incremental vacuum and the rest (each read back),
// and creates the schema in an empty one. Refused with a clear error, untouched: another program's database, a text
// file, another version of the schema.
Result<std::unique_ptr<SQLite::Database>> open_for_writing(const std::string& path, Durability durability);

// For the query tool: read-only. Works while it is written, after kill -9 of the recorder, after a clean stop for a
// user who may not write the folder, and on a copy elsewhere. Another version of the schema is an error that says what
// to do.
Result<std::unique_ptr<SQLite::Database>> open_for_reading(const std::string& path);

// As for reading, but another file may be attached to it and written.
Result<std::unique_ptr<SQLite::Database>> open_for_copying(const std::string& path);

// A database of today's schema in an empty file, for attach_copy(). Throws, as do the next three.
void make_empty(const std::string& path);

// Attaches a new file that nobody needs if it is not finished, as "copy": it has no journal.
void attach_copy(SQLite::Database& database, const std::string& path);

// The same, opened by itself.
void hurry_copy(SQLite::Database& copy);

// One that needs neither -wal nor -shm, so that it can be read wherever it is put.
void make_single_file(SQLite::Database& database);

// Marks the database as ours, with the schema's version. Belongs into the transaction that makes that schema.
void stamp(SQLite::Database& database, std::int32_t schema_version);
std::int32_t schema_version(SQLite::Database& database);

// The version of SQLite that runs.
std::string sqlite_version();

// Bytes that SQLite holds (sqlite3_memory_used).
std::int64_t sqlite_memory_bytes();

}  // namespace memoir
