#pragma once

// Reads and sets SQLite pragmas.

#include <cstdint>
#include <string>

namespace SQLite {
class Database;
}

namespace memoir {

// How long a writer waits for another writer, in ms.
inline constexpr int kWriterBusyMs = 5000;

// Returns the first column of a statement's first row; 0 without a row.
std::int64_t number(SQLite::Database& database, const char* sql);

// Sets a pragma and reads it back, because SQLite silently ignores invalid pragmas. Throws.
void set_pragma(SQLite::Database& database, const std::string& name, const std::string& value,
                const std::string& expected);

// A query for a number that changes when another connection commits.
inline constexpr const char* kDataVersion = "PRAGMA data_version";

}  // namespace memoir
