#pragma once

// Reads and sets what SQLite calls a pragma. This room alone does.

#include <cstdint>
#include <string>

namespace SQLite {
class Database;
}

namespace memoir {

// How long a writer waits for another.
inline constexpr int kWriterBusyMs = 5000;

// The number that a statement answers with; 0 if it answers with nothing.
std::int64_t number(SQLite::Database& database, const char* sql);

// Sets a pragma and reads it back: SQLite ignores what it does not like. Throws.
void set_pragma(SQLite::Database& database, const std::string& name, const std::string& value,
                const std::string& expected);

// A number that changes when another connection commits.
inline constexpr const char* kDataVersion = "PRAGMA data_version";

}  // namespace memoir
