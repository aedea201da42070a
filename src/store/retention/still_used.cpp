#include "store/retention/still_used.h"

#include "store/sqlite/statement.h"

namespace memoir {
StillUsed read_still_used(SQLite::Database& database) {
  StillUsed used;
  Statement rows(database, "SELECT command_id, cgroup_id, identity_id, user_id FROM process");
  while (rows.step()) {
    used.commands.add(rows.integer(0));
    used.cgroups.add(rows.integer(1));
    used.identities.add(rows.integer(2));
    used.users.add(rows.integer(3));
  }
  return used;
}

}  // namespace memoir
