#include "store/retention/referenced_ids.h"

#include <fmt/format.h>
#include <string>

#include "store/sqlite/statement.h"
#include "store/tables.h"

namespace memoir {

ReferencedIds read_referenced_ids(SQLite::Database& database) {
  std::string columns;
  for (const StoreTable& table : tables_of(TableKind::names))
    columns += fmt::format("{}{}_id", columns.empty() ? "" : ", ", table.name);
  ReferencedIds used(tables_of(TableKind::names).size());
  Statement rows(database, fmt::format("SELECT {} FROM process ORDER BY id", columns));
  while (rows.step()) {
    for (std::size_t i = 0; i < used.size(); ++i) used[i].add(rows.integer(static_cast<int>(i)));
  }
  return used;
}

}  // namespace memoir
