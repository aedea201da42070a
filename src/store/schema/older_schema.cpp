#include "store/schema/older_schema.h"

#include <SQLiteCpp/Database.h>
#include <fmt/format.h>
#include <iterator>
#include <string_view>

#include "store/schema/identity_migration.h"
#include "store/schema/migrations.h"
#include "store/schema/schema_objects.h"
#include "store/schema/sql.h"
#include "store/sqlite/statement.h"

namespace memoir {
namespace {

static_assert(std::size(sql::compat) + 1 == std::size(sql::migrations),
              "schema/compat has one file for each schema before today's");

constexpr auto kToday = sql::objects[std::size(sql::objects) - 1];

bool has(SQLite::Database& database, std::string_view table) {
  return one(database, "SELECT 1 FROM main.sqlite_schema WHERE type = 'table' AND name = ?", table).has_value();
}

// SQLite keeps what made a table or a view as "CREATE TABLE …" and "CREATE VIEW …".
void make_in_temp(SQLite::Database& database, const sql::Object& object) {
  const std::string_view sql = object.sql;
  const std::string_view kind = object.type;
  database.exec(
      fmt::format("CREATE TEMP {} IF NOT EXISTS {}", kind, sql.substr(fmt::formatted_size("CREATE {} ", kind))));
}

void add_missing_tables(SQLite::Database& database) {
  for (const sql::Object& object : kToday) {
    if (object.type == std::string_view("table") && !has(database, object.name)) make_in_temp(database, object);
  }
}

// Those that the file has as well: a view of the file would not look into TEMP, and may be a stranger's. What was a
// table stands there already (compat/).
void add_views(SQLite::Database& database) {
  for (const sql::Object& object : kToday) {
    if (object.type == std::string_view("view")) make_in_temp(database, object);
  }
}

}  // namespace

void present_as_current(SQLite::Database& database, std::int32_t version) {
  if (version == kSchemaVersion) return;
  // One transaction: what it sees is one state of the file.
  Transaction transaction(database, Transaction::Kind::read);
  add_missing_tables(database);
  for (std::int32_t from = version; from < kSchemaVersion; ++from) database.exec(sql::compat[from - 1]);
  add_views(database);
  if (version < kIdentities)
    fill_in_identities(database, "INSERT INTO temp.process_identity (process_id, identity_id) VALUES (?, ?)");
  transaction.commit();
}

}  // namespace memoir
