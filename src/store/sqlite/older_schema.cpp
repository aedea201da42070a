#include "store/sqlite/older_schema.h"

#include <SQLiteCpp/Database.h>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "model/identity.h"
#include "store/sqlite/migrations.h"
#include "store/sqlite/schema_objects.h"
#include "store/sqlite/sql.h"
#include "store/sqlite/statement.h"

namespace memoir {
namespace {

static_assert(std::size(sql::compat) + 1 == std::size(sql::migrations),
              "schema/compat has one file for each schema before today's");

constexpr auto kToday = sql::objects[std::size(sql::objects) - 1];

bool has(SQLite::Database& database, std::string_view table) {
  Statement found(database, "SELECT 1 FROM main.sqlite_schema WHERE type = 'table' AND name = ?");
  return found.bind(table).step();
}

// SQLite keeps what made a table or a view as "CREATE TABLE …" and "CREATE VIEW …".
void make_in_temp(SQLite::Database& database, const sql::Object& object) {
  const std::string_view sql = object.sql;
  database.exec(fmt::format("CREATE TEMP {}", sql.substr(std::string_view("CREATE ").size())));
}

void add_missing_tables(SQLite::Database& database) {
  for (const sql::Object& object : kToday) {
    if (object.type == std::string_view("table") && !has(database, object.name)) make_in_temp(database, object);
  }
}

// Those that the file has as well: a view of the file would not look into TEMP, and may be a stranger's.
void add_views(SQLite::Database& database) {
  for (const sql::Object& object : kToday) {
    if (object.type == std::string_view("view")) make_in_temp(database, object);
  }
}

// As fill_in_identities() (identity_migration.h), with the same numbers.
void add_identities(SQLite::Database& database) {
  Statement rows(
      database,
      "SELECT p.id, c.exe, c.line, g.path FROM main.process AS p "
      "JOIN main.command AS c ON c.id = p.command_id JOIN main.cgroup AS g ON g.id = p.cgroup_id ORDER BY p.id");
  Statement add(database,
                "INSERT INTO temp.identity (id, unit, exe, command, first_ms, last_ms) VALUES (?, ?, ?, ?, 0, 0)");
  Statement set(database, "INSERT INTO temp.process_identity (process_id, identity_id) VALUES (?, ?)");
  std::map<std::tuple<std::string, std::string, std::string>, std::int64_t> known;
  while (rows.step()) {
    ProcessInfo info;
    info.exe = rows.text(1);
    info.command = rows.text(2);
    info.cgroup = rows.text(3);
    const Identity identity = identity_of(info);
    const auto next = static_cast<std::int64_t>(known.size()) + 1;
    const auto [found, is_new] = known.try_emplace({identity.unit, identity.exe, identity.command}, next);
    if (is_new) add.run(next, identity.unit, identity.exe, identity.command);
    set.run(rows.integer(0), found->second);
  }
  database.exec(
      "UPDATE temp.identity SET "
      "first_ms = (SELECT p.first_ms FROM temp.process AS p WHERE p.identity_id = identity.id ORDER BY p.id LIMIT 1), "
      "last_ms = (SELECT MAX(COALESCE(p.last_ms, p.first_ms)) FROM temp.process AS p WHERE p.identity_id = "
      "identity.id)");
}

}  // namespace

void present_as_current(SQLite::Database& database, std::int32_t version) {
  if (version == kSchemaVersion) return;
  // One transaction: what it sees is one state of the file.
  Transaction transaction(database, Transaction::Kind::read);
  add_missing_tables(database);
  for (std::int32_t from = version; from < kSchemaVersion; ++from) database.exec(sql::compat[from - 1]);
  add_views(database);
  if (version < kIdentities) add_identities(database);
  transaction.commit();
}

}  // namespace memoir
