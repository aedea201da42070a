#include "store/schema/migrations.h"

#include <SQLiteCpp/Database.h>
#include <iterator>

#include "store/schema/identity_migration.h"
#include "store/schema/line_digests.h"
#include "store/schema/sql.h"
#include "store/sqlite/database.h"
#include "store/sqlite/statement.h"

namespace memoir {

const std::int32_t kSchemaVersion = static_cast<std::int32_t>(std::size(sql::migrations));

namespace {

// Whoever made them.
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
  if (from == kSchemaVersion) return;
  Transaction transaction(database, Transaction::Kind::write);
  drop_views(database);
  for (std::int32_t version = from; version < kSchemaVersion; ++version) {
    database.exec(sql::migrations[version]);
    if (version + 1 == kLineDigests) fill_in_line_digests(database);
    if (version + 1 == kIdentities) fill_in_identities(database, "UPDATE process SET identity_id = ?2 WHERE id = ?1");
  }
  database.exec(sql::views);
  stamp(database, kSchemaVersion);
  transaction.commit();
}

}  // namespace memoir
