#include "query/leaks/groups.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "store/names.h"

namespace memoir::query {

namespace {

// If there are more groups than this, groups that exited too soon to leak are left out.
constexpr std::int64_t kManyGroups = 20'000;
constexpr std::int64_t kBriefMs = 10 * 60 * 1000;

bool is_brief(const Group& group) {
  return group.exited_ms && *group.exited_ms - group.members.front().first_ms < kBriefMs;
}

std::optional<std::int64_t> end_of(const Group& group, Range range) {
  std::int64_t exited_ms = 0;
  for (const StoredLife& member : group.members) {
    if (!member.exited_ms || *member.exited_ms > range.to_ms) return std::nullopt;
    exited_ms = std::max(exited_ms, *member.exited_ms);
  }
  return exited_ms;
}

}  // namespace

Result<Groups> load_groups(Reader& reader, Range range, std::optional<std::int64_t> only) {
  std::vector<StoredLife> lives = TRY(load_lives(reader, range, only));
  std::ranges::stable_sort(lives, {},
                           [](const StoredLife& life) { return std::pair(life.identity_id, life.first_ms); });
  std::int64_t identities = 0;
  for (std::size_t i = 0; i < lives.size(); ++i)
    identities += i == 0 || lives[i].identity_id != lives[i - 1].identity_id ? 1 : 0;
  Groups groups;
  for (auto first = lives.begin(); first != lives.end();) {
    const auto next = std::find_if(first, lives.end(),
                                   [&](const StoredLife& life) { return life.identity_id != first->identity_id; });
    Group group{first->identity_id, {}, {}, {first, next}, {}};
    group.exited_ms = end_of(group, range);
    const bool left_out = identities > kManyGroups && is_brief(group);
    groups.brief += left_out ? 1 : 0;
    if (!left_out) groups.all.push_back(std::move(group));
    first = next;
  }
  TRY(visit_identities(reader, std::nullopt, [&groups](StoredIdentity&& identity) {
    const auto group = std::ranges::lower_bound(groups.all, identity.id, {}, &Group::identity_id);
    if (group == groups.all.end() || group->identity_id != identity.id) return;
    group->subject = std::move(identity.command);
    group->unit = std::move(identity.unit);
  }));
  return groups;
}

std::optional<std::int64_t> only_pid(const Group& group, std::int64_t at_ms) {
  if (group.members.size() == 1) return group.members.front().pid;
  std::vector<std::int64_t> living;
  for (const StoredLife& member : group.members) {
    if (!member.exited_ms || *member.exited_ms > at_ms) living.push_back(member.pid);
  }
  return living.size() == 1 ? std::optional(living.front()) : std::nullopt;
}

Generations generations_of(const Group& group) {
  Generations found;
  std::int64_t exited_ms = std::numeric_limits<std::int64_t>::min();
  for (const StoredLife& member : group.members) {
    if (found.begins_ms.empty() || member.first_ms >= exited_ms) {
      found.begins_ms.push_back(member.first_ms);
    } else {
      found.together = true;
    }
    found.of.push_back(static_cast<std::int32_t>(found.begins_ms.size()) - 1);
    exited_ms = std::max(exited_ms, member.exited_ms.value_or(std::numeric_limits<std::int64_t>::max()));
  }
  return found;
}

}  // namespace memoir::query
