#include "store/sqlite/migrations.h"

#include <SQLiteCpp/Database.h>
#include <iterator>

#include "store/sqlite/database.h"
#include "store/sqlite/identity_migration.h"
#include "store/sqlite/sql.h"
#include "store/sqlite/statement.h"

namespace memoir {

const std::int32_t kSchemaVersion = static_cast<std::int32_t>(std::size(sql::migrations));

void migrate(SQLite::Database& database, std::int32_t from) {
  for (std::int32_t version = from; version < kSchemaVersion; ++version) {
    Transaction transaction(database, Transaction::Kind::write);
    database.exec(sql::migrations[version]);
    if (version + 1 == kIdentities) fill_in_identities(database);
    stamp(database, version + 1);
    transaction.commit();
  }
}

std::unique_ptr<SQLite::Database> empty_database(std::int32_t version) {
  auto database = std::make_unique<SQLite::Database>(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  for (std::int32_t step = 0; step < version; ++step) database->exec(sql::migrations[step]);
  return database;
}

}  // namespace memoir
