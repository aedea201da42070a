#pragma once

// One SQLite database of the recorder: opened, checked and set up.

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "store/sqlite/file_owner.h"
#include "store/sqlite/statement.h"
#include "store/types.h"

namespace memoir {

// Opens the file without checks; throws. The path is never interpreted as a URI or a special name of SQLite.
// `parameters` are URI parameters, such as "?mode=ro".
std::unique_ptr<SQLite::Database> open_unchecked(const std::string& path, int flags, const char* parameters = "");

// Returns an error unless the file at `path` is a database of ours or unclaimed. Writes nothing, neither to the file
// nor next to it. A file of ours with an unreadable header is damaged.
Status check_owner(const std::string& path);

// Checks that a database can be at `path`: its folder exists, and it is not a directory itself.
Status check_place(const std::string& path);

// Opens the file for the recorder. Creates it if it is missing; sets WAL, incremental vacuum and the other settings,
// and reads each back; creates the schema in an empty file. Refuses another program's database, a text file, or
// another version of the schema, without touching the file.
Result<std::unique_ptr<SQLite::Database>> open_for_writing(const std::string& path, Durability durability);

// Opens the file read-only, for the query tool. This works while the recorder writes to it, after a kill -9 or a clean
// stop of the recorder, without write permission on the folder, and for a copy elsewhere. Another version of the
// schema is an error that explains the remedy.
Result<std::unique_ptr<SQLite::Database>> open_for_reading(const std::string& path);

// Like open_for_reading(), but another file may be attached to it and written.
Result<std::unique_ptr<SQLite::Database>> open_for_copying(const std::string& path);

// Creates a database of the current schema in an empty file, for attach_copy(). Throws, like the next three.
void make_empty(const std::string& path);

// Attaches a new file as "copy", without a journal: an unfinished copy is discarded.
void attach_copy(SQLite::Database& database, const std::string& path);

// Turns off the journal of a new file that is opened directly.
void disable_durability(SQLite::Database& copy);

// Turns the database into a single file that needs neither -wal nor -shm and can be read anywhere.
void make_single_file(SQLite::Database& database);

// Marks the database as ours, with the schema's version. Belongs in the transaction that creates that schema.
void stamp(SQLite::Database& database, std::int32_t schema_version);
std::int32_t schema_version(SQLite::Database& database);

// The version of the SQLite library in use.
std::string sqlite_version();

// Bytes used by SQLite (sqlite3_memory_used).
std::int64_t sqlite_memory_bytes();

}  // namespace memoir
