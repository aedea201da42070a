#pragma once

// Since schema 11 a command is found by the digest of its line, which SQL alone cannot tell.

#include <cstdint>
#include <string_view>

namespace SQLite {
class Database;
}

namespace memoir {

// As the column has it.
std::int64_t line_digest(std::string_view line);

// Fills in those that are 0: of rows written before schema 11.
void fill_in_line_digests(SQLite::Database& database);

}  // namespace memoir
