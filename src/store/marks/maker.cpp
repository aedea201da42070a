#include "store/marks/maker.h"

#include <algorithm>
#include <limits>

#include "base/reserve_closely.h"

namespace memoir {

namespace {

constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::min();

// Maximum number of groups without members that are remembered. When a remembered group has members again, only values
// above its marks raise them.
constexpr std::ptrdiff_t kMaxAbsent = 1000;

std::optional<std::int64_t> known(std::int64_t value) {
  return value == kNone ? std::nullopt : std::optional(value);
}

// Returns a value that was read, without replacements. RSS in place of an unread PSS would exceed the real PSS. VmSwap
// does not replace Swap, either.
std::optional<std::int64_t> own_value(const ProcessMemory& memory, Source source, Metric metric) {
  if (metric == Metric::swap) return memory.get(ProcessField::swap);
  const bool is_replaced = source == Source::approximate || source == Source::inaccessible;
  return metric == Metric::pss && is_replaced ? std::nullopt : metric_kib(memory, metric);
}

}  // namespace

MarkMaker::Subject& MarkMaker::subject(SubjectKind kind, std::int64_t id) {
  const std::pair key(kind, id);
  const auto found = std::ranges::lower_bound(subjects_, key, {}, &Subject::key);
  if (found != subjects_.end() && found->key() == key) return *found;
  Subject added;
  added.kind = kind;
  added.id = id;
  added.marks.fill(kNone);
  return *subjects_.insert(found, added);
}

MarkMaker::Member* MarkMaker::find_member(std::int64_t id) {
  const auto found = std::ranges::lower_bound(members_, id, {}, &Member::id);
  return found != members_.end() && found->id == id ? &*found : nullptr;
}

void MarkMaker::count(Subject& group, const Parts& parts, int sign) {
  group.members += sign;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i] == kNone) continue;
    group.sums[i] += sign * parts[i];
    group.known[i] += sign;
  }
}

void MarkMaker::count(SubjectKind kind, std::int64_t Groups::*id, const Member* before, const Member* now) {
  Subject* group = before != nullptr ? &subject(kind, before->groups.*id) : nullptr;
  if (group != nullptr) count(*group, before->parts, -1);
  if (now == nullptr) return;
  if (group == nullptr || group->id != now->groups.*id) group = &subject(kind, now->groups.*id);
  count(*group, now->parts, 1);
  group->changed = true;
}

void MarkMaker::count(const Member* before, const Member* now) {
  count(SubjectKind::identity, &Groups::identity_id, before, now);
  count(SubjectKind::cgroup, &Groups::cgroup_id, before, now);
}

bool MarkMaker::begin_tick(MarkTime time) {
  time_ = time;
  const std::int64_t day_ms = day_of(time.at_ms);
  if (std::exchange(day_ms_, day_ms) == day_ms) return false;
  for (Member& member : members_) member.marks.fill(kNone);
  for (Subject& subject : subjects_) {
    subject.marks.fill(kNone);
    subject.changed = true;
  }
  return true;
}

void MarkMaker::raise(SubjectKind kind, std::int64_t id, Metric metric, std::optional<std::int64_t> value,
                      MarkTime time, std::int64_t& mark) {
  if (!value || !raises(metric, *value, known(mark))) return;
  mark = *value;
  raised_.push_back({day_of(time.at_ms), kind, id, metric, *value, time});
}

void MarkMaker::observe(const MachineMemory& memory) {
  Subject& machine = subject(SubjectKind::machine, 0);
  std::size_t at = 0;
  for (const Metric metric : marked_metrics(SubjectKind::machine))
    raise(SubjectKind::machine, 0, metric, metric_value(memory, metric), time_, machine.marks.at(at++));
}

void MarkMaker::observe_category(std::int64_t id, const CategorySample& sample) {
  Subject& category = subject(SubjectKind::category, id);
  std::size_t at = 0;
  for (const Metric metric : marked_metrics(SubjectKind::category))
    raise(SubjectKind::category, id, metric, metric_kib(sample, metric), time_, category.marks.at(at++));
}

void MarkMaker::observe_cgroup(std::int64_t id, const CgroupSample& sample) {
  Subject& cgroup = subject(SubjectKind::cgroup, id);
  cgroup.counted = true;
  std::size_t at = 0;
  for (const Metric metric : marked_metrics(SubjectKind::cgroup)) {
    std::int64_t& mark = cgroup.marks.at(at++);
    if (info_of(metric).counted) raise(SubjectKind::cgroup, id, metric, metric_kib(sample, metric), time_, mark);
  }
}

void MarkMaker::observe_process(std::int64_t id, const Groups& groups, const ProcessMemory& memory, Source source,
                                MarkTime hwm_time) {
  Member now{id, groups, {}, {}};
  for (std::size_t i = 0; i < kSummed.size(); ++i) now.parts[i] = metric_kib(memory, kSummed[i]).value_or(kNone);
  auto found = std::ranges::lower_bound(members_, id, {}, &Member::id);
  if (found == members_.end() || found->id != id) {
    now.marks.fill(kNone);
    count(nullptr, &now);
    const auto at = found - members_.begin();
    reserve_closely(members_, members_.size() + 1);
    found = members_.insert(members_.begin() + at, now);
  } else if (found->parts != now.parts || found->groups != groups) {
    now.marks = found->marks;
    count(&*found, &now);
    *found = now;
  }
  Member& process = *found;
  std::size_t at = 0;
  for (const Metric metric : marked_metrics(SubjectKind::process)) {
    const MarkTime time = metric == Metric::hwm ? hwm_time : time_;
    raise(SubjectKind::process, id, metric, own_value(memory, source, metric), time, process.marks.at(at++));
  }
  if (const auto hwm = metric_kib(memory, Metric::hwm)) raise_identity(groups.identity_id, *hwm, time_);
}

void MarkMaker::remove_process(std::int64_t id) {
  const Member* const found = find_member(id);
  if (found == nullptr) return;
  count(found, nullptr);
  members_.erase(members_.begin() + (found - members_.data()));
}

// Raises the VmHWM of an identity, which is the highest VmHWM of its processes.
void MarkMaker::raise_identity(std::int64_t identity_id, std::int64_t peak_kib, MarkTime time) {
  observe(SubjectKind::identity, identity_id, Metric::hwm, peak_kib, time);
}

void MarkMaker::observe(SubjectKind kind, std::int64_t id, Metric metric, std::int64_t kib, MarkTime time) {
  const std::vector<Metric>& metrics = marked_metrics(kind);
  const auto at = static_cast<std::size_t>(std::ranges::find(metrics, metric) - metrics.begin());
  if (at == metrics.size()) return;
  // For other days and for unsampled processes no mark is kept here; the store compares such values itself.
  std::int64_t unknown = kNone;
  std::int64_t* mark = &unknown;
  if (day_of(time.at_ms) == day_ms_) {
    if (kind != SubjectKind::process) {
      mark = &subject(kind, id).marks.at(at);
    } else if (Member* const found = find_member(id)) {
      mark = &found->marks.at(at);
    }
  }
  raise(kind, id, metric, kib, time, *mark);
}

void MarkMaker::observe_exit(std::int64_t id, const Groups& groups, std::int64_t peak_kib, MarkTime time) {
  observe(SubjectKind::process, id, Metric::hwm, peak_kib, time);
  raise_identity(groups.identity_id, peak_kib, time);
}

void MarkMaker::raise_sums(Subject& group) {
  std::size_t at = 0;
  for (const Metric metric : marked_metrics(group.kind)) {
    std::int64_t& mark = group.marks.at(at++);
    const auto part = static_cast<std::size_t>(std::ranges::find(kSummed, metric) - kSummed.begin());
    if (part == kSummed.size() || group.known[part] == 0) continue;
    raise(group.kind, group.id, metric, group.sums[part], time_, mark);
  }
}

void MarkMaker::drop_absent() {
  const auto is_absent = [](const Subject& of) { return info_of(of.kind).summed && of.members == 0 && !of.counted; };
  if (std::ranges::count_if(subjects_, is_absent) > kMaxAbsent) std::erase_if(subjects_, is_absent);
}

std::vector<Mark> MarkMaker::end_tick() {
  for (Subject& subject : subjects_) {
    if (subject.changed && info_of(subject.kind).summed && subject.members > 0) raise_sums(subject);
    subject.changed = false;
  }
  drop_absent();
  for (Subject& subject : subjects_) subject.counted = false;
  return take_raised();
}

}  // namespace memoir
