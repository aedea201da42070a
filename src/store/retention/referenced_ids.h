#pragma once

// Which rows of the tables of names a process is of. Found by one look through all processes, some 0.1 s for a hundred
// thousand: an index of `process` by each of them would be written to at each birth, a page of its own each time, which
// is a fifth of all that a recorder writes where many processes live for seconds.

#include <vector>

#include "store/rows/id_set.h"

namespace SQLite {
class Database;
}

namespace memoir {

using ReferencedIds = std::vector<IdSet>;  // in the order of tables_of(TableKind::names)

ReferencedIds read_referenced_ids(SQLite::Database& database);

}  // namespace memoir
