#include "store/schema/identity_migration.h"

#include <SQLiteCpp/Database.h>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "model/identity.h"
#include "model/process.h"
#include "store/sqlite/statement.h"

namespace memoir {

void fill_in_identities(SQLite::Database& database, const char* set) {
  Statement rows(
      database,
      "SELECT p.id, c.exe, c.line, g.path FROM main.process AS p "
      "JOIN main.command AS c ON c.id = p.command_id JOIN main.cgroup AS g ON g.id = p.cgroup_id ORDER BY p.id");
  Statement add(database, "INSERT INTO identity (id, unit, exe, command, first_ms, last_ms) VALUES (?, ?, ?, ?, 0, 0)");
  Statement set_of_process(database, set);
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
    set_of_process.run(rows.integer(0), found->second);
  }
  database.exec(
      "UPDATE identity SET first_ms = "
      "(SELECT p.first_ms FROM process AS p WHERE p.identity_id = identity.id ORDER BY p.id LIMIT 1)");
  database.exec(
      "UPDATE identity SET last_ms = MAX(first_ms, "
      "(SELECT MAX(COALESCE(p.last_ms, p.first_ms)) FROM process AS p WHERE p.identity_id = identity.id))");
}

}  // namespace memoir
