#include "store/sqlite/identity_migration.h"

#include <SQLiteCpp/Database.h>
#include <cstdint>

#include "model/identity.h"
#include "model/process.h"
#include "store/sqlite/statement.h"

namespace memoir {
namespace {

// The rows of `identity`, each stored once.
class Identities {
 public:
  explicit Identities(SQLite::Database& database)
      : database_(database),
        find_(database, "SELECT id FROM identity WHERE unit = ? AND exe = ? AND command = ?"),
        insert_(database, "INSERT INTO identity (unit, exe, command, first_ms, last_ms) VALUES (?, ?, ?, ?, ?)") {}

  std::int64_t id(const Identity& identity, std::int64_t at_ms) {
    if (find_.bind(identity.unit, identity.exe, identity.command).step()) {
      const std::int64_t found = find_.integer(0);
      find_.reset();
      return found;
    }
    insert_.run(identity.unit, identity.exe, identity.command, at_ms, at_ms);
    return database_.getLastInsertRowid();
  }

 private:
  SQLite::Database& database_;
  Statement find_;
  Statement insert_;
};

}  // namespace

void fill_in_identities(SQLite::Database& database) {
  Statement rows(database,
                 "SELECT p.id, p.first_ms, COALESCE(p.last_ms, p.first_ms), c.exe, c.line, g.path FROM process AS p "
                 "JOIN command AS c ON c.id = p.command_id JOIN cgroup AS g ON g.id = p.cgroup_id "
                 "WHERE p.identity_id = 0 ORDER BY p.id");
  Statement set(database, "UPDATE process SET identity_id = ?2 WHERE id = ?1");
  Statement seen(database, "UPDATE identity SET last_ms = MAX(last_ms, ?2) WHERE id = ?1");
  Identities names(database);
  while (rows.step()) {
    ProcessInfo info;
    info.exe = rows.text(3);
    info.command = rows.text(4);
    info.cgroup = rows.text(5);
    const Identity identity = identity_of(info);
    const std::int64_t id = names.id(identity, rows.integer(1));
    set.run(rows.integer(0), id);
    seen.run(id, rows.integer(2));
  }
}

}  // namespace memoir
