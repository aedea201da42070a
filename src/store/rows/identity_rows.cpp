#include "store/rows/identity_rows.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "store/sqlite/statement.h"

namespace memoir {
namespace {

using LastSeen = std::unordered_map<std::int64_t, std::int64_t>;

// An identity's own last_ms is that of the last rollup; whoever has a living process lives. One look through all
// processes, without the sort that a GROUP BY would take.
LastSeen last_seen(SQLite::Database& database) {
  LastSeen seen_ms;
  const std::int64_t now_ms = one(database, "SELECT wall_ms FROM tick ORDER BY id DESC LIMIT 1").value_or(0);
  Statement rows(database, "SELECT identity_id, last_ms FROM process ORDER BY id");
  while (rows.step()) {
    std::int64_t& last_ms = seen_ms[rows.integer(0)];
    last_ms = std::max(last_ms, rows.maybe(1).value_or(now_ms));
  }
  return seen_ms;
}

}  // namespace

std::vector<StoredIdentity> load_identities(SQLite::Database& database, std::optional<Range> range) {
  const auto seen_ms = range ? last_seen(database) : LastSeen();
  std::vector<StoredIdentity> identities;
  Statement rows(database, "SELECT id, unit, exe, command, first_ms, last_ms FROM identity ORDER BY id");
  while (rows.step()) {
    StoredIdentity identity{rows.integer(0), rows.text(1),    rows.text(2),
                            rows.text(3),    rows.integer(4), rows.integer(5)};
    const auto seen = seen_ms.find(identity.id);
    if (seen != seen_ms.end()) identity.last_ms = std::max(identity.last_ms, seen->second);
    if (!range || (identity.first_ms <= range->to_ms && identity.last_ms >= range->from_ms))
      identities.push_back(std::move(identity));
  }
  return identities;
}

}  // namespace memoir
