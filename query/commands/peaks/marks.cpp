#include "query/history/marks.h"

#include <algorithm>
#include <limits>
#include <map>
#include <unordered_map>

#include "query/commands/peaks/peaks.h"
#include "query/history/history.h"
#include "query/history/tier.h"
#include "query/state/changes.h"
#include "query/state/process_columns.h"
#include "store/states.h"

namespace memoir::query {

namespace {

constexpr std::size_t kMaxLastSights = 2000;

void set_now(PeakRow& row, std::optional<std::int64_t> kib, const State& now) {
  row.now_kib = kib;
  row.now_ms = now.at_ms;
}

void add_machine(const std::vector<HighWater>& marks, const State* now, Peaks& peaks) {
  for (const Metric metric : kMachinePeaks) {
    for (PeakRow& row : rows_of(marks, SubjectKind::machine, metric)) {
      row.name = to_string(metric);
      if (now != nullptr) set_now(row, metric_value(now->machine.memory, metric), *now);
      peaks.machine.push_back(std::move(row));
    }
  }
}

// Returns the metric to compare with a mark: RSS for VmHWM, otherwise the metric itself.
Metric held_metric(Metric by) {
  return by == Metric::hwm ? Metric::rss : by;
}

// Returns the memory of each group. For VmHWM, returns the RSS of its largest member.
Result<std::map<std::string, std::int64_t>> held_now(Reader& reader, const State& now, const std::string& group,
                                                     Metric by) {
  std::map<std::string, std::int64_t> held;
  if (info_of(by).counted) {
    for (const CgroupSample& cgroup : *now.cgroups) held[cgroup.path] = metric_kib(cgroup, by).value_or(0);
    return held;
  }
  if (by == Metric::hwm) {
    for (const ProcessUse& process : now.processes) {
      std::int64_t& kib = held[group_key(*process.process, group)];
      kib = std::max(kib, process.kib[Metric::rss].value_or(0));
    }
    return held;
  }
  Changes sums(group);
  TRY(sums.add(reader, Filter(), now, true));
  for (const Change& of : sums.rows()) held[of.name] = of.is.kib(by).value_or(0);
  return held;
}

Result<std::vector<PeakRow>> group_rows(Reader& reader, const std::vector<HighWater>& marks, const std::string& group,
                                        Metric by, const State* now) {
  if (info_of(by).counted && now != nullptr && !now->cgroups) now = nullptr;  // rollups lack the cgroups' counters
  std::vector<PeakRow> rows = rows_of(marks, *group_kind(group), by);
  if (now == nullptr) return rows;
  // A group without a process is absent and uses 0.
  std::map<std::string, std::int64_t> held = TRY(held_now(reader, *now, group, by));
  for (PeakRow& row : rows) set_now(row, held[row.name], *now);
  return rows;
}

// Sets the current memory of a row's process. Returns false if the process is absent now.
bool add_present(PeakRow& row, const State& now, Metric by) {
  const auto& processes = now.processes;
  const auto held = std::ranges::find(processes, row.process->id, [](const ProcessUse& of) { return of.process->id; });
  if (held == processes.end()) return false;
  set_now(row, held->kib[held_metric(by)], now);
  return true;
}

// Sets the memory at the end of the process's last bucket. Returns false if there is none.
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

// Sets the last memory of a process. The search starts at the end of the last bucket of an exited process, which is
// found quickly if the process ran long enough to have one.
Status add_last_sight(PeakRow& row, const Context& context, const PeakQuery& question) {
  Reader& reader = context.reader;
  const std::int64_t at_ms = std::min(row.process->last_ms, question.range.to_ms);
  const auto tick = TRY(reader.tick_at(at_ms));
  if (!tick || (row.process->exited_ms && at_ms == row.process->last_ms)) {
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

// Adds processes by their marks: without a filter only the highest marks, with a filter all that match.
Status add_processes(const Context& context, const PeakQuery& question, const State* now, Peaks& peaks) {
  Reader& reader = context.reader;
  constexpr std::size_t all = std::numeric_limits<std::size_t>::max();
  const std::size_t room = limited(context.options, all - 1, row_limits_for(context, question).rows);
  const ProcessMarks marks =
      TRY(reader.process_marks(question.all_time ? std::nullopt : std::optional(question.range), std::nullopt,
                               question.by, question.filter.takes_all() ? room + 1 : all));
  // Visits the processes in the order of the marks.
  std::unordered_map<std::int64_t, const HighWater*> by_id;
  for (const HighWater& mark : marks.marks) by_id.emplace(mark.subject_id, &mark);
  TRY(visit_processes_by_id(
      reader, transformed(marks.marks, &HighWater::subject_id), [&](const StoredProcess& process) {
        if (!question.filter.matches(process)) return;
        const HighWater& mark = *by_id.at(process.id);
        if (peaks.rows.size() < question.max_rows) {
          peaks.rows.push_back(
              {peak_name(process, question.group), std::make_shared<const StoredProcess>(process), peak_of(mark)});
        } else if (peaks.left_out.count++ == 0) {
          peaks.left_out.highest_kib = mark.value_kib;
        }
      }));
  limit_peaks(context, question, peaks);
  if (question.filter.takes_all()) peaks.cut.all = std::max(peaks.cut.all, static_cast<std::size_t>(marks.processes));
  return add_last_sights(context, question, now, peaks);
}

}  // namespace

Peak peak_of(const HighWater& mark) {
  return {mark.subject_id, mark.value_kib, mark.at_ms, mark.before_ms, mark.seen_by};
}

Status add_last_sights(const Context& context, const PeakQuery& question, const State* now, Peaks& peaks) {
  std::size_t searched = 0;
  for (PeakRow& row : peaks.rows) {
    if (now != nullptr && !means_over(*now) && add_present(row, *now, question.by)) continue;
    // Each process needs its own search. If there are very many exited ones, the memory of the others stays unknown.
    if (++searched <= kMaxLastSights) TRY(add_last_sight(row, context, question));
  }
  return Done{};
}

void rank_rows(std::vector<PeakRow>& rows) {
  std::ranges::stable_sort(rows, [](const PeakRow& a, const PeakRow& b) {
    if (a.peak.value_kib != b.peak.value_kib) return a.peak.value_kib > b.peak.value_kib;
    return a.peak.at_ms < b.peak.at_ms;
  });
}

std::set<SubjectKind> reported_kinds(const PeakQuery& question) {
  std::set<SubjectKind> kinds{SubjectKind::machine, SubjectKind::category};
  if (const auto kind = group_kind(question.group)) kinds.insert(*kind);
  return kinds;
}

std::vector<PeakRow> rows_of(const std::vector<HighWater>& marks, SubjectKind subject, Metric metric) {
  std::unordered_map<std::int64_t, std::string> names;
  std::vector<Peak> peaks;
  for (const HighWater& mark : marks) {
    if (mark.subject != subject || mark.metric != metric) continue;
    names[mark.subject_id] = mark.name;
    peaks.push_back(peak_of(mark));
  }
  return transformed(rank_peaks(peaks, info_of(metric).lowest ? Extreme::lowest : Extreme::highest),
                     [&names](const Peak& peak) {
                       return PeakRow{names[peak.subject], {}, peak};
                     });
}

Result<Peaks> peaks_from_marks(const Context& context, const PeakQuery& question) {
  Reader& reader = context.reader;
  const std::vector<HighWater> marks = TRY(
      reader.high_water(question.all_time ? std::nullopt : std::optional(question.range), reported_kinds(question)));
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
