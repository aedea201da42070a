#include "store/sqlite/pragma.h"

#include <SQLiteCpp/Database.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include "store/sqlite/statement.h"

namespace memoir {

std::int64_t number(SQLite::Database& database, const char* sql) {
  return one(database, sql).value_or(0);
}

void set_pragma(SQLite::Database& database, const std::string& name, const std::string& value,
                const std::string& expected) {
  Statement(database, fmt::format("PRAGMA {} = {}", name, value)).finish();
  Statement check(database, "PRAGMA " + name);
  const std::string got = check.step() ? check.text(0) : "";
  if (got != expected) {
    throw SQLite::Exception(fmt::format("pragma {} is {}, not {}", name, got, expected), SQLITE_ERROR);
  }
}

}  // namespace memoir
