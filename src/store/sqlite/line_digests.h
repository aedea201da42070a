#pragma once

// Since schema 11 a command is found by the digest of its line, which SQL alone cannot tell.

namespace SQLite {
class Database;
}

namespace memoir {

// Fills in those that are 0: of rows of before.
void fill_in_line_digests(SQLite::Database& database);

}  // namespace memoir
