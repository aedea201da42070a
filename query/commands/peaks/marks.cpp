#include "query/history/marks.h"

#include <algorithm>
#include <limits>
#include <map>
#include <unordered_map>

#include "query/commands/peaks/peaks.h"
#include "query/history/history.h"
#include "query/history/tier.h"
#include "query/state/process_columns.h"
#include "store/states.h"

namespace memoir::query {

namespace {

std::vector<Peak> ranked(const std::vector<HighWater>& marks, SubjectKind subject, Metric metric) {
  std::vector<Peak> peaks;
  for (const HighWater& mark : marks) {
    if (mark.subject == subject && mark.metric == metric) {
      peaks.push_back(peak_of(mark));
    }
  }
  return rank_peaks(peaks, info_of(metric).lowest ? Extreme::lowest : Extreme::highest);
}

void set_now(PeakRow& row, std::optional<std::int64_t> kib, const State& now) {
  row.now_kib = kib;
  row.now_ms = now.at_ms;
}

void add_machine(const std::vector<HighWater>& marks, const State* now, Peaks& peaks) {
  for (const Metric metric : {Metric::used, metric_of(MachineField::mem_available), Metric::swap_used}) {
    const std::vector<Peak> found = ranked(marks, SubjectKind::machine, metric);
    if (found.empty()) continue;
    PeakRow row{std::string(to_string(metric)), {}, found.front()};
    if (now != nullptr) set_now(row, metric_value(now->machine.memory, metric), *now);
    peaks.machine.push_back(row);
  }
}

// What is resident beside a mark; for another metric the metric itself.
Metric held_metric(Metric by) {
  return by == Metric::hwm ? Metric::rss : by;
}

// What each group holds; of the VmHWM of a member it is the largest member that counts.
Result<std::map<std::string, std::int64_t>> held_now(Reader& reader, const State& now, const std::string& group,
                                                     Metric by) {
  std::map<std::string, std::int64_t> held;
  if (info_of(by).counted) {
    for (const CgroupSample& cgroup : *now.cgroups) held[cgroup.path] = metric_kib(cgroup, by).value_or(0);
    return held;
  }
  const auto groups =
      TRY(by == Metric::hwm ? Result(std::optional<std::vector<GroupState>>()) : kept_groups(reader, now, group));
  if (groups) {
    for (const GroupState& of : *groups) held[of.name] += of.kib[by].value_or(0);
    return held;
  }
  for (const HeldProcess& process : now.processes) {
    std::int64_t& kib = held[group_key(*process.process, group)];
    const std::int64_t own = process.kib[held_metric(by)].value_or(0);
    kib = by == Metric::hwm ? std::max(kib, own) : kib + own;
  }
  return held;
}

Result<std::vector<PeakRow>> group_rows(Reader& reader, const std::vector<HighWater>& marks, const std::string& group,
                                        Metric by, const State* now) {
  const SubjectKind kind = *group_kind(group);
  if (info_of(by).counted && now != nullptr && !now->cgroups) now = nullptr;  // of ticks alone
  std::unordered_map<std::int64_t, std::string> names;
  for (const HighWater& mark : marks) {
    if (mark.subject == kind) names[mark.subject_id] = mark.name;
  }
  std::map<std::string, std::int64_t> held;
  if (now != nullptr) {
    held = TRY(held_now(reader, *now, group, by));
  }
  std::vector<PeakRow> rows;
  for (const Peak& peak : ranked(marks, kind, by)) {
    PeakRow row{names[peak.subject], {}, peak};
    if (now != nullptr) {
      // A group without a process is not there, and holds nothing.
      const auto kib = held.find(row.name);
      set_now(row, kib == held.end() ? 0 : kib->second, *now);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

// False: it is not there now.
bool add_present(PeakRow& row, const State& now, Metric by) {
  const auto& processes = now.processes;
  const auto held = std::ranges::find(processes, row.process->id, [](const HeldProcess& of) { return of.process->id; });
  if (held == processes.end()) return false;
  set_now(row, held->kib[held_metric(by)], now);
  return true;
}

// The end of its last bucket. False: there is none.
Result<bool> add_last_bucket(PeakRow& row, const Context& context, Tier tier, std::int64_t at_ms, Metric by) {
  bool found = false;
  const Range last{at_ms - bucket_ms(tier), at_ms + 1};
  TRY(context.reader.history({tier, SubjectKind::process, row.process->id, last, {held_metric(by)}},
                             [&](const SubjectInterval& of) {
                               found = true;
                               row.now_kib = of.interval.last;
                               row.now_ms = at_ms;
                             }));
  return found;
}

// A process that is gone is taken at its last tick: from the end of its last bucket, which is found at once, where it
// lived for long enough to have one.
Status add_last_sight(PeakRow& row, const Context& context, const PeakQuestion& question) {
  Reader& reader = context.reader;
  const std::int64_t at_ms = std::min(row.process->last_ms, question.range.to_ms);
  const auto tick = TRY(reader.tick_at(at_ms));
  if (!tick || (row.process->gone_ms && at_ms == row.process->last_ms)) {
    const Tier tier = TRY(finest_rollup(reader, at_ms));
    const bool found =
        TRY(!holds_groups(tier) ? Result(false) : add_last_bucket(row, context, tier, at_ms, question.by));
    if (found || !tick) return Done{};
  }
  const auto state = TRY(load_process(reader, tick->id, row.process->id));
  if (!state) return Done{};
  row.now_kib = metric_kib(state->sample.memory, held_metric(question.by));
  row.now_ms = tick->begin.wall_ms;
  return Done{};
}

// Of all processes the highest alone; with a filter all those that have a mark, until enough are found.
Status add_processes(const Context& context, const PeakQuestion& question, const State* now, Peaks& peaks) {
  Reader& reader = context.reader;
  constexpr std::size_t all = std::numeric_limits<std::size_t>::max();
  const std::size_t room = limited(context.options, all - 1, room_for(context, question).rows);
  const ProcessMarks marks =
      TRY(reader.process_marks(question.all_time ? std::nullopt : std::optional(question.range), std::nullopt,
                               question.by, question.filter.takes_all() ? room + 1 : all));
  const std::vector<StoredProcess> processes = TRY(processes_of(reader, marks));
  std::unordered_map<std::int64_t, const StoredProcess*> by_id;
  for (const StoredProcess& process : processes) by_id[process.id] = &process;
  for (const HighWater& mark : marks.marks) {
    const auto process = by_id.find(mark.subject_id);
    if (process == by_id.end() || !question.filter.matches(*process->second)) continue;
    peaks.rows.push_back({peak_name(*process->second, question.group), *process->second, peak_of(mark)});
  }
  limit_peaks(context, question, peaks);
  if (question.filter.takes_all()) peaks.cut.all = std::max(peaks.cut.all, static_cast<std::size_t>(marks.processes));
  return add_last_sights(context, question, now, peaks);
}

}  // namespace

Peak peak_of(const HighWater& mark) {
  return {mark.subject_id, mark.value_kib, mark.at_ms, mark.before_ms, mark.seen_by};
}

Status add_last_sights(const Context& context, const PeakQuestion& question, const State* now, Peaks& peaks) {
  for (PeakRow& row : peaks.rows) {
    if (now != nullptr && !means_over(*now) && add_present(row, *now, question.by)) continue;
    TRY(add_last_sight(row, context, question));
  }
  return Done{};
}

void rank_rows(std::vector<PeakRow>& rows) {
  std::ranges::stable_sort(rows, [](const PeakRow& a, const PeakRow& b) {
    if (a.peak.value_kib != b.peak.value_kib) return a.peak.value_kib > b.peak.value_kib;
    return a.peak.at_ms < b.peak.at_ms;
  });
}

std::set<SubjectKind> told_kinds(const PeakQuestion& question) {
  std::set<SubjectKind> kinds{SubjectKind::machine, SubjectKind::category};
  if (const auto kind = group_kind(question.group)) kinds.insert(*kind);
  return kinds;
}

std::vector<Peak> marks_within(const std::vector<HighWater>& marks, SubjectKind subject, Metric metric, Range range) {
  std::vector<HighWater> within = marks;
  std::erase_if(within, [&](const HighWater& mark) {
    return mark.at_ms < range.from_ms || mark.at_ms > range.to_ms || (metric == Metric::hwm && stood(mark));
  });
  return ranked(within, subject, metric);
}

Result<Peaks> peaks_from_marks(const Context& context, const PeakQuestion& question) {
  Reader& reader = context.reader;
  const std::vector<HighWater> marks =
      TRY(reader.high_water(question.all_time ? std::nullopt : std::optional(question.range), told_kinds(question)));
  const std::optional<State> last = TRY(load_state(context, question.range.to_ms));
  const State* now = last ? &*last : nullptr;
  Peaks peaks;
  add_machine(marks, now, peaks);
  if (question.group != "process") {
    peaks.rows = TRY(group_rows(reader, marks, question.group, question.by, now));
    limit_peaks(context, question, peaks);
  }
  if (question.group != "category") {
    peaks.categories = TRY(group_rows(reader, marks, "category", Metric::pss, now));
  }
  if (question.group != "process") return peaks;
  TRY(add_processes(context, question, now, peaks));
  return peaks;
}

}  // namespace memoir::query
