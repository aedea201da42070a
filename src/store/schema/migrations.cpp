#include "store/schema/migrations.h"

#include <SQLiteCpp/Database.h>
#include <iterator>

#include "store/schema/sql.h"
#include "store/sqlite/database.h"
#include "store/sqlite/statement.h"

namespace memoir {

const std::int32_t kSchemaVersion = static_cast<std::int32_t>(std::size(sql::migrations));

namespace {

void drop_views(SQLite::Database& database) {
  Statement views(database,
                  "SELECT group_concat(printf('DROP VIEW main.\"%w\";', name), ' ') FROM main.sqlite_schema "
                  "WHERE type = 'view'");
  const std::string drops = views.step() ? views.text(0) : "";
  views.reset();
  database.exec(drops);
}

}  // namespace

void migrate(SQLite::Database& database, std::int32_t from) {
  migrate(database, from, sql::migrations);
}

void migrate(SQLite::Database& database, std::int32_t from, std::span<const char* const> migrations) {
  const auto version = static_cast<std::int32_t>(migrations.size());
  if (from == version) return;
  Transaction transaction(database, Transaction::Kind::write);
  drop_views(database);
  for (const char* migration : migrations.subspan(static_cast<std::size_t>(from))) database.exec(migration);
  database.exec(sql::views);
  stamp(database, version);
  transaction.commit();
}

}  // namespace memoir
