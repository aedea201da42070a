#include "query/leaks/groups.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "store/names.h"

namespace memoir::query {

namespace {

std::optional<std::int64_t> end_of(const Group& group, Range range) {
  std::int64_t ended_ms = 0;
  for (const StoredLife& member : group.members) {
    if (!member.gone_ms || *member.gone_ms > range.to_ms) return std::nullopt;
    ended_ms = std::max(ended_ms, *member.gone_ms);
  }
  return ended_ms;
}

}  // namespace

Result<std::vector<Group>> load_groups(Reader& reader, Range range) {
  std::vector<StoredLife> lives = TRY(load_lives(reader, range));
  std::vector<StoredIdentity> identities = TRY(load_identities(reader, std::nullopt));
  std::ranges::stable_sort(lives, {}, &StoredLife::first_ms);
  std::map<std::int64_t, Group> groups;
  for (StoredIdentity& identity : identities) {
    groups[identity.id] = {identity.id, std::move(identity.command), std::move(identity.unit), {}, {}};
  }
  for (const StoredLife& life : lives) groups[life.identity_id].members.push_back(life);
  std::vector<Group> all;
  all.reserve(groups.size());
  for (auto& [id, group] : groups) {
    if (group.members.empty()) continue;
    group.ended_ms = end_of(group, range);
    all.push_back(std::move(group));
  }
  return all;
}

std::optional<std::int64_t> only_pid(const Group& group, std::int64_t at_ms) {
  if (group.members.size() == 1) return group.members.front().pid;
  std::vector<std::int64_t> living;
  for (const StoredLife& member : group.members) {
    if (!member.gone_ms || *member.gone_ms > at_ms) living.push_back(member.pid);
  }
  return living.size() == 1 ? std::optional(living.front()) : std::nullopt;
}

Generations generations_of(const Group& group) {
  Generations found;
  std::int64_t gone_ms = std::numeric_limits<std::int64_t>::min();
  for (const StoredLife& member : group.members) {
    if (found.begins_ms.empty() || member.first_ms >= gone_ms) {
      found.begins_ms.push_back(member.first_ms);
    } else {
      found.together = true;
    }
    found.of.push_back(static_cast<std::int32_t>(found.begins_ms.size()) - 1);
    gone_ms = std::max(gone_ms, member.gone_ms.value_or(std::numeric_limits<std::int64_t>::max()));
  }
  return found;
}

}  // namespace memoir::query
