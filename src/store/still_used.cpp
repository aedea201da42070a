#include "store/still_used.h"

#include "store/statement.h"

namespace memoir {
namespace {

constexpr std::int64_t kMostId = std::int64_t{1} << 27;

bool is_large(std::int64_t id) {
  return id < 0 || id > kMostId;
}

}  // namespace

void IdSet::add(std::int64_t id) {
  if (is_large(id)) return;
  const auto index = static_cast<std::size_t>(id);
  if (index >= ids_.size()) ids_.resize(index + 1 + index / 2);
  ids_[index] = true;
}

bool IdSet::has(std::int64_t id) const {
  if (is_large(id)) return true;
  const auto index = static_cast<std::size_t>(id);
  return index < ids_.size() && ids_[index];
}

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
