#include "store/rollup/subjects.h"

#include <fmt/format.h>
#include <string>

#include "store/stored_fields.h"
#include "store/tables.h"

namespace memoir {
namespace {

// A process, and of each kind of group which one it is a member of, and since when that one is known.
std::string row_sql() {
  std::string columns = "p.start_ms, p.gone_tick_id, p.last_ms";
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

// Of the PSS of groups it is kept when it was highest. Of processes, of which there are many, the marks tell.
void forget_times(MemoryPiece& piece) {
  const bool group = static_cast<SubjectKind>(piece.subject) != SubjectKind::process;
  for (std::size_t i = 0; i < kRollupMetrics; ++i) {
    Aggregate& value = piece.bucket.values[i];
    value.min_at_ms = 0;
    if (!group || i != rolled_index(Metric::pss)) value.max_at_ms = 0;
  }
}

}  // namespace

RollupSubjects::RollupSubjects(SQLite::Database& database, std::int64_t least_life_ms)
    : least_life_ms_(least_life_ms), row_(database, row_sql()) {}

RollupSubjects::Group& RollupSubjects::group(SubjectKind subject, std::int64_t id, std::int64_t first_ms) {
  return groups_.try_emplace({subject, id}, subject, id, first_ms).first->second;
}

RollupSubjects::Member& RollupSubjects::member(std::int64_t process_id) {
  const auto [found, added] = members_.try_emplace(process_id, process_id);
  Member& member = found->second;
  if (added && row_.bind(process_id).step()) {
    int column = 0;
    member.start_ms = row_.integer(column++);
    member.gone_tick_id = row_.integer(column++);
    member.last_ms = row_.integer(column++);
    for (std::size_t i = 0; i < kGroupKinds.size(); ++i) {
      const std::int64_t id = row_.integer(column++);
      member.groups.at(i) = &group(kGroupKinds.at(i), id, row_.integer(column++));
    }
    row_.reset();
  }
  return member;
}

// Before anything of it changes in a tick: what it and its groups had, held until now.
void RollupSubjects::touch(Member& member) {
  if (member.touched) return;
  member.touched = true;
  touched_members_.push_back(&member);
  if (!priming_ && member.line.live()) member.line.hold_until(at_ms_);
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

// RSS stands in for PSS where it could not be read exactly. The other values are read from what everybody may read, or
// are not known then.
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
    if (member != members_.end()) member->second.line.touch(metric, seen.kib, seen.at_ms);
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
    if (member->live) {
      member->line.set(at_ms_, member->values, 1);
    } else {
      member->line.stop();
    }
    if (!priming_) member->line.see();
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

// Of all that are born and die within an hour, only those that live are held.
void RollupSubjects::end_members() {
  for (Member* member : touched_members_) {
    if (member->live || !member->is_gone(tick_id_)) continue;
    keep(member->line, member->lived_ms(member->last_ms));
    members_.erase(member->line.subject_id());
  }
  touched_members_.clear();
}

void RollupSubjects::keep(Timeline<kRollupMetrics>& line, std::int64_t lived_ms) {
  std::vector<MemoryPiece> pieces = line.take();
  if (pieces.empty()) return;
  const MemoryPiece& first = pieces.front();
  if (static_cast<SubjectKind>(first.subject) == SubjectKind::process && lived_ms < least_life_ms_) return;
  for (MemoryPiece& piece : pieces) {
    piece.lived_ms = lived_ms;
    forget_times(piece);
  }
  pieces_.emplace(std::pair(first.subject, first.subject_id), std::move(pieces));
}

template <typename Do>
void RollupSubjects::each_line(const Do& act) {
  for (auto& [id, member] : members_) act(member.line);
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

MemoryPieces RollupSubjects::finish(std::int64_t end_ms, std::int64_t end_tick_id) {
  for (auto& [id, member] : members_)
    keep(member.line, member.lived_ms(member.is_gone(end_tick_id) ? member.last_ms : end_ms));
  for (auto& [key, group] : groups_) keep(group.line, end_ms - group.first_ms);
  return std::move(pieces_);
}

}  // namespace memoir
