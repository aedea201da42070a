#include "store/rollup/subjects.h"

#include <fmt/format.h>
#include <string>

#include "store/stored_fields.h"
#include "store/tables.h"

namespace memoir {
namespace {

// Returns the query of a process with its group of each kind, and the first observation of that group.
std::string row_sql() {
  std::string columns = "p.start_ms, p.exited_tick_id, p.last_ms";
  std::string joins;
  for (const SubjectKind kind : kGroupKinds) {
    const StoreTable& table = table_of_groups(kind);
    const bool ages = !table.age.empty();
    columns += fmt::format(", p.{}, {}", table.column, ages ? fmt::format("{}.first_ms", table.name) : "0");
    if (ages) joins += fmt::format(" LEFT JOIN {0} ON {0}.id = p.{1}", table.name, table.column);
  }
  return fmt::format("SELECT {} FROM process AS p{} WHERE p.id = ?", columns, joins);
}

void set(MemoryValues& values, Metric metric, const ProcessMemory& memory, bool exact = true) {
  const auto value = metric_kib(memory, metric);
  values[rolled_index(metric)] = value ? std::optional(Level{*value, exact ? 0 : *value}) : std::nullopt;
}

// Clears the times of minimum and maximum, except the time of a group's highest PSS. For processes, which are many,
// only the marks keep that time.
void forget_times(MemoryPiece& piece) {
  const bool group = static_cast<SubjectKind>(piece.subject) != SubjectKind::process;
  for (std::size_t i = 0; i < kRollupMetrics; ++i) {
    Aggregate& value = piece.bucket.values[i];
    value.min_at_ms = 0;
    if (!group || i != rolled_index(Metric::pss)) value.max_at_ms = 0;
  }
}

}  // namespace

RollupSubjects::RollupSubjects(SQLite::Database& database, std::int64_t min_life_ms, const LifetimeEnd& end,
                               std::optional<SubjectKind> only)
    : min_life_ms_(min_life_ms), only_(only), lifetime_end_(end), row_(database, row_sql()) {}

std::int64_t RollupSubjects::bytes() const {
  constexpr std::size_t node = 64;  // bytes of a map's node, with the allocator's overhead
  const std::size_t held = members_.size() * (sizeof(Member) + node) + groups_.size() * (sizeof(Group) + 2 * node) +
                           pieces_.size() * 2 * node;
  return static_cast<std::int64_t>(held) + lines_ * static_cast<std::int64_t>(sizeof(Timeline<kRollupMetrics>)) +
         made_ * static_cast<std::int64_t>(sizeof(MemoryPiece));
}

RollupSubjects::Group& RollupSubjects::group(SubjectKind subject, std::int64_t id, std::int64_t first_ms) {
  const auto [found, added] = groups_.try_emplace({subject, id}, subject, id, first_ms, &made_);
  Group& group = found->second;
  ++group.processes;
  if (!added) return group;
  // The group may have had members earlier in this pass.
  if (auto earlier = pieces_.extract({static_cast<std::int64_t>(subject), id}); !earlier.empty())
    group.line.resume(std::move(earlier.mapped()));
  return group;
}

RollupSubjects::Member& RollupSubjects::member(std::int64_t process_id) {
  const auto [found, added] = members_.try_emplace(process_id);
  Member& member = found->second;
  if (!added) return member;
  member.id = process_id;
  if (row_.bind(process_id).step()) {
    int column = 0;
    member.start_ms = row_.integer(column++);
    member.exited_tick_id = row_.integer(column++);
    member.last_ms = row_.integer(column++);
    for (std::size_t i = 0; i < kGroupKinds.size(); ++i) {
      const std::int64_t id = row_.integer(column++);
      const std::int64_t first_ms = row_.integer(column++);
      if (wants(kGroupKinds.at(i))) member.groups.at(i) = &group(kGroupKinds.at(i), id, first_ms);
    }
    row_.reset();
  }
  if (wants(SubjectKind::process) && member.lived_ms(lifetime_end_) >= min_life_ms_) {
    member.line =
        std::make_unique<Timeline<kRollupMetrics>>(static_cast<std::int64_t>(SubjectKind::process), process_id, &made_);
    ++lines_;
  }
  return member;
}

// Called before each change of a member in a tick. Accounts its values, and those of its groups, up to now.
void RollupSubjects::touch(Member& member) {
  if (member.touched) return;
  member.touched = true;
  touched_members_.push_back(&member);
  if (!priming_ && member.line && member.line->live()) member.line->hold_until(at_ms_);
  for (Group* group : member.groups) {
    if (group == nullptr || group->touched) continue;
    group->touched = true;
    touched_groups_.push_back(group);
    if (!priming_ && group->line.live()) group->line.hold_until(at_ms_);
  }
}

void RollupSubjects::count(const Member& member, int sign) {
  for (Group* group : member.groups) {
    if (group == nullptr) continue;
    group->members += sign;
    for (std::size_t i = 0; i < kRollupMetrics; ++i) {
      if (!member.values[i]) continue;
      group->sums[i].value += sign * member.values[i]->value;
      group->sums[i].inexact += sign * member.values[i]->inexact;
      group->known[i] += sign;
    }
  }
}

// RSS replaces PSS that could not be read; PSS then is not exact. The other values come from files that are always
// readable, or are unknown.
void RollupSubjects::set_hot(std::int64_t process_id, const ProcessMemory& memory, bool exact) {
  Member& found = member(process_id);
  touch(found);
  if (found.live) count(found, -1);
  found.live = true;
  found.named = true;
  for (const Metric metric : kRolledMetrics) {
    if (is_hot(metric)) set(found.values, metric, memory, exact || metric != Metric::pss);
  }
  count(found, 1);
}

void RollupSubjects::set_cold(std::int64_t process_id, const ProcessMemory& memory) {
  Member& found = member(process_id);
  touch(found);
  if (found.live) count(found, -1);
  found.live = true;
  for (const Metric metric : kRolledMetrics) {
    if (!is_hot(metric)) set(found.values, metric, memory);
  }
  count(found, 1);
}

void RollupSubjects::leave(Member& member) {
  touch(member);
  if (member.live) count(member, -1);
  member.live = false;
}

void RollupSubjects::end(std::int64_t process_id) {
  const auto found = members_.find(process_id);
  if (found != members_.end()) leave(found->second);
}

void RollupSubjects::touch(SubjectKind kind, const ExtremeRow& seen) {
  const std::size_t metric = rolled_index(seen.metric);
  if (metric >= kRollupMetrics) return;
  if (kind == SubjectKind::category) {
    const auto group = groups_.find({kind, seen.subject_id});
    if (group != groups_.end()) group->second.line.touch(metric, seen.kib, seen.at_ms);
  } else if (kind == SubjectKind::process) {
    const auto member = members_.find(seen.subject_id);
    if (member != members_.end() && member->second.line) member->second.line->touch(metric, seen.kib, seen.at_ms);
  }
}

void RollupSubjects::begin_tick(std::int64_t tick_id, std::int64_t at_ms, bool keyframe) {
  tick_id_ = tick_id;
  at_ms_ = at_ms;
  keyframe_ = keyframe;
  if (!keyframe) return;
  for (auto& [id, member] : members_) member.named = false;
}

void RollupSubjects::end_tick() {
  if (keyframe_) {
    for (auto& [id, member] : members_) {
      if (member.live && !member.named) leave(member);
    }
  }
  for (Member* member : touched_members_) {
    member->touched = false;
    if (!member->line) continue;
    if (member->live) {
      member->line->set(at_ms_, member->values, 1);
    } else {
      member->line->stop();
    }
    if (!priming_) member->line->see();
  }
  for (Group* group : touched_groups_) {
    group->touched = false;
    if (group->members == 0) {
      group->line.stop();
      continue;
    }
    MemoryValues values;
    for (std::size_t i = 0; i < kRollupMetrics; ++i) {
      if (group->known[i] > 0) values[i] = group->sums[i];
    }
    group->line.set(at_ms_, values, group->members);
    if (!priming_) group->line.see();
  }
  end_members();
  touched_groups_.clear();
}

// Removes exited processes. Many processes start and exit within an hour, and only live ones stay in memory.
void RollupSubjects::end_members() {
  for (Member* member : touched_members_) {
    if (member->live || !member->is_gone(tick_id_)) continue;
    if (member->line) {
      keep(*member->line, member->lived_ms({tick_id_, at_ms_}));
      --lines_;
    }
    leave_groups(*member);
    members_.erase(member->id);
  }
  touched_members_.clear();
}

// Reduces groups without processes to their pieces, because there may be very many identities.
void RollupSubjects::leave_groups(const Member& member) {
  for (std::size_t i = 0; i < member.groups.size(); ++i) {
    Group* const group = member.groups.at(i);
    if (group == nullptr || --group->processes > 0) continue;
    keep(group->line, lifetime_end_.end_ms - group->first_ms);
    groups_.erase({kGroupKinds.at(i), group->line.subject_id()});
  }
}

void RollupSubjects::keep(Timeline<kRollupMetrics>& line, std::int64_t lived_ms) {
  std::vector<MemoryPiece> pieces = line.take();
  if (pieces.empty()) return;
  const MemoryPiece& first = pieces.front();
  for (MemoryPiece& piece : pieces) {
    piece.lived_ms = lived_ms;
    forget_times(piece);
  }
  pieces_.emplace(std::pair(first.subject, first.subject_id), std::move(pieces));
}

template <typename Do>
void RollupSubjects::each_line(const Do& act) {
  for (auto& [id, member] : members_) {
    if (member.line) act(*member.line);
  }
  for (auto& [key, group] : groups_) act(group.line);
}

void RollupSubjects::hold_until(std::int64_t until_ms) {
  each_line([until_ms](auto& line) { line.hold_until(until_ms); });
}

void RollupSubjects::go_on_at(std::int64_t at_ms) {
  each_line([at_ms](auto& line) { line.go_on_at(at_ms); });
}

void RollupSubjects::see_all() {
  each_line([](auto& line) { line.see(); });
}

MemoryPieces RollupSubjects::finish(std::optional<LifetimeEnd> end) {
  if (end) lifetime_end_ = *end;
  for (auto& [id, member] : members_) {
    if (member.line) keep(*member.line, member.lived_ms(lifetime_end_));
  }
  for (auto& [key, group] : groups_) keep(group.line, lifetime_end_.end_ms - group.first_ms);
  return std::move(pieces_);
}

}  // namespace memoir
