#pragma once

// From schema 1 to 2: what each process's identity is, which SQL alone cannot tell.

namespace SQLite {
class Database;
}

namespace memoir {

// Fills in `identity`, of which there is no row yet, and for each process runs `set` with its id and that of its
// identity.
void fill_in_identities(SQLite::Database& database, const char* set);

}  // namespace memoir
