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
#include "store/sqlite/sql.h"
#include "store/sqlite/statement.h"

namespace memoir {
namespace {

static_assert(std::size(sql::compat) + 1 == std::size(sql::migrations),
              "schema/compat has one file for each schema before today's");

bool has(SQLite::Database& database, const std::string& table) {
  Statement found(database, "SELECT 1 FROM main.sqlite_schema WHERE type = 'table' AND name = ?");
  return found.bind(table).step();
}

// SQLite keeps what made a table or a view as "CREATE TABLE …" and "CREATE VIEW …".
std::string in_temp(const std::string& type, const std::string& sql) {
  const std::size_t head = std::string_view("CREATE ").size() + type.size();
  return fmt::format("CREATE TEMP {}{}", type, std::string_view(sql).substr(head));
}

void add_missing_tables(SQLite::Database& database, SQLite::Database& current) {
  Statement tables(current, "SELECT name, sql FROM sqlite_schema WHERE type = 'table' ORDER BY rowid");
  while (tables.step()) {
    if (!has(database, tables.text(0))) database.exec(in_temp("TABLE", tables.text(1)));
  }
}

// Those that the file has as well: a view of the file would not look into TEMP, and may be a stranger's.
void add_views(SQLite::Database& database, SQLite::Database& current) {
  Statement views(current, "SELECT sql FROM sqlite_schema WHERE type = 'view' ORDER BY rowid");
  while (views.step()) database.exec(in_temp("VIEW", views.text(0)));
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
  const auto current = empty_database(kSchemaVersion);
  // One transaction: what it sees is one state of the file.
  Transaction transaction(database, Transaction::Kind::read);
  add_missing_tables(database, *current);
  for (std::int32_t from = version; from < kSchemaVersion; ++from) database.exec(sql::compat[from - 1]);
  add_views(database, *current);
  if (version < kIdentities) add_identities(database);
  transaction.commit();
}

}  // namespace memoir
