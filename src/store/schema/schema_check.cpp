#include "store/schema/schema_check.h"

#include <SQLiteCpp/Database.h>
#include <fmt/format.h>
#include <map>
#include <sqlite3.h>
#include <utility>

#include "base/text.h"
#include "store/schema/schema_objects.h"
#include "store/sqlite/failure.h"
#include "store/sqlite/statement.h"

namespace memoir {
namespace {

// Maximum length of a row. The longest rows are command lines (max_command_bytes).
constexpr int kLongestBytes = 4 * 1024 * 1024;

constexpr const char* kObjects =
    "SELECT type, name, tbl_name, COALESCE(sql, '') FROM main.sqlite_schema ORDER BY type, name";

using Name = std::pair<std::string, std::string>;        // type and name
using Definition = std::pair<std::string, std::string>;  // table and SQL
using Objects = std::map<Name, Definition>;

Objects known_objects() {
  Objects objects;
  for (const sql::Object& object : sql::objects) objects[{object.type, object.name}] = {object.table, object.sql};
  for (const auto& [table, columns] :
       {std::pair("sqlite_stat1", "tbl,idx,stat"), std::pair("sqlite_stat4", "tbl,idx,neq,nlt,ndlt,sample")})
    objects[{"table", table}] = {table, fmt::format("CREATE TABLE {}({})", table, columns)};
  return objects;
}

Error differs(const std::string& path, const Name& object, const char* how) {
  return malformed(fmt::format("{} does not have Memoir's schema: the {} '{}' {}; use an unchanged file", path,
                               to_printable(object.first), to_printable(object.second), how));
}

}  // namespace

Status check_schema(SQLite::Database& database, const std::string& path) {
  Objects expected = known_objects();
  Statement rows(database, kObjects);
  while (rows.step()) {
    const Name name{rows.text(0), rows.text(1)};
    // SQL contains no NUL, so a page of the file was lost.
    if (rows.text(3).find('\0') != std::string::npos) return damaged(path, "its schema");
    const auto found = expected.find(name);
    if (found == expected.end()) return differs(path, name, "does not belong to it");
    if (found->second != Definition{rows.text(2), rows.text(3)}) return differs(path, name, "differs");
    expected.erase(found);
  }
  for (const auto& [name, definition] : expected) {
    if (!name.second.starts_with("sqlite_stat")) return differs(path, name, "is missing");
  }
  return Done{};
}

void harden(SQLite::Database& database) {
  sqlite3* const handle = database.getHandle();
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, kLongestBytes);
  if (sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr) != SQLITE_OK ||
      sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr) != SQLITE_OK) {
    throw SQLite::Exception(handle);
  }
}

}  // namespace memoir
