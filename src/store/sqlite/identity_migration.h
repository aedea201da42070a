#pragma once

// From schema 1 to 2: what each process's identity is, which SQL alone cannot tell.

namespace SQLite {
class Database;
}

namespace memoir {

// Of the processes that have none yet. In an open transaction.
void fill_in_identities(SQLite::Database& database);

}  // namespace memoir
