#include <algorithm>
#include <limits>
#include <set>
#include <unordered_map>

#include "analysis/restarts.h"
#include "query/args/times.h"
#include "query/commands/summary/summary.h"
#include "query/history/history.h"
#include "query/history/marks.h"
#include "query/history/tier.h"
#include "query/state/process_columns.h"
#include "store/names.h"

namespace memoir::query {

namespace {

constexpr std::size_t kMostHolders = 3;
constexpr std::size_t kMostProcesses = 10;

using UsageById = std::map<std::int64_t, Usage>;

bool reached_on(const HighWater& mark, const Day& day) {
  return day.holds(mark.at_ms) && !stood(mark);
}

// What the members of each group held over the day.
Result<UsageById> load_usage(Reader& reader, SubjectKind kind, const DaySummary& summary) {
  UsageById usage;
  const Range range{summary.day.begin_ms, summary.day.end_ms - 1};
  TRY(reader.history({summary.tier, kind, {}, range, {Metric::pss}, true}, [&usage](const SubjectInterval& held) {
    Usage& of = usage[held.subject_id];
    of.most_processes = std::max(of.most_processes, held.processes);
    of.series.push_back(held.interval);
  }));
  for (auto& [id, of] : usage) std::ranges::stable_sort(of.series, {}, &Interval::from_ms);
  return usage;
}

// Whoever was not there held nothing.
std::int64_t mean_within(const std::vector<Interval>& series, Range span, std::int64_t recorded_ms) {
  const Figures figures = figures_of(series, span.from_ms, span.to_ms);
  if (!figures.mean) return 0;
  if (recorded_ms <= 0) return *figures.mean;
  const double held = static_cast<double>(*figures.mean) * static_cast<double>(figures.covered_ms);
  return mean_of_held(held, figures.covered_ms, recorded_ms);
}

// Hours are compared of which at least half was recorded.
bool comparable(const DaySummary& summary, Range hour) {
  return 2 * covered_ms_of(summary.used, hour.from_ms, hour.to_ms) >= kHourMs;
}

// The first such hour of the seven days that the day ends; absent if there is none before the day.
std::optional<Range> first_hour_of_week(const DaySummary& summary) {
  const std::int64_t from_ms = summary.days[1].day.begin_ms;
  for (const Interval& bucket : summary.used) {
    if (bucket.until_ms <= from_ms || bucket.from_ms >= summary.day.begin_ms) continue;
    const std::int64_t begin_ms = std::max(bucket.from_ms, from_ms);
    const Range hour{begin_ms, begin_ms + kHourMs};
    if (comparable(summary, hour)) return hour;
  }
  return std::nullopt;
}

Status add_week(Reader& reader, SubjectKind kind, const DaySummary& summary, UsageById& usage) {
  const auto hour = first_hour_of_week(summary);
  if (!hour) return Done{};
  const Tier tier = TRY(finest_rollup(reader, hour->from_ms));
  std::map<std::int64_t, std::vector<Interval>> series;
  TRY(reader.history({tier, kind, {}, *hour, {Metric::pss}, true},
                     [&series](const SubjectInterval& of) { series[of.subject_id].push_back(of.interval); }));
  const std::int64_t recorded_ms = covered_ms_of(summary.used, hour->from_ms, hour->to_ms);
  for (auto& [id, of] : usage) of.week_kib = mean_within(series[id], *hour, recorded_ms);
  return Done{};
}

void add_figures(const DaySummary& summary, UsageById& usage) {
  const auto within = [&summary](Range span, const Usage& of) {
    return mean_within(of.series, span, covered_ms_of(summary.used, span.from_ms, span.to_ms));
  };
  const Range begin{summary.first_ms, std::min(summary.first_ms + kHourMs, summary.last_ms)};
  const Range end{std::max(summary.last_ms - kHourMs, summary.first_ms), summary.last_ms};
  for (auto& [id, of] : usage) {
    of.pss = figures_of(of.series, summary.day.begin_ms, summary.day.end_ms);
    if (of.pss.mean) of.pss.mean = within({summary.day.begin_ms, summary.day.end_ms}, of);
    // Less than two hours have no first and last hour to compare.
    if (summary.last_ms - summary.first_ms < 2 * kHourMs) continue;
    if (comparable(summary, begin)) of.begin_kib = within(begin, of);
    if (comparable(summary, end)) of.end_kib = within(end, of);
  }
}

// The largest first; those without a name or a value are left out.
std::vector<Usage> ranked(const UsageById& usage) {
  std::vector<Usage> list;
  for (const auto& [id, of] : usage) {
    if (!of.name.empty() && of.pss.highest) list.push_back(of);
  }
  std::ranges::stable_sort(list, std::greater(), [](const Usage& of) { return of.pss.highest->value; });
  return list;
}

Result<std::vector<Usage>> load_groups(Reader& reader, SubjectKind kind,
                                       const std::map<std::int64_t, std::string>& names,
                                       const std::vector<HighWater>& marks, const DaySummary& summary) {
  UsageById usage = TRY(load_usage(reader, kind, summary));
  TRY(add_week(reader, kind, summary, usage));
  add_figures(summary, usage);
  for (auto& [id, of] : usage) {
    if (const auto name = names.find(id); name != names.end()) of.name = of.title = name->second;
  }
  for (const HighWater& mark : marks) {
    if (mark.subject != kind || mark.metric != Metric::hwm || !reached_on(mark, summary.day)) continue;
    const auto of = usage.find(mark.subject_id);
    if (of != usage.end()) of->second.hwm_kib = std::max(of->second.hwm_kib.value_or(0), mark.value_kib);
  }
  return ranked(usage);
}

void warn_of_inexact(DaySummary& summary) {
  ExactShare exact;
  for (const Usage& of : summary.categories) {
    for (const Interval& interval : of.series) exact.add(interval);
  }
  if (auto line = inexact_line(exact)) summary.warnings.push_back(*std::move(line));
}

// By the newest process of the day.
void add_titles(const std::vector<StoredProcess>& processes, std::vector<Usage>& identities) {
  std::map<std::string, std::vector<const StoredProcess*>> members;
  for (const StoredProcess& process : processes) members[group_key(process, "identity")].push_back(&process);
  for (Usage& of : identities) {
    const auto found = members.find(of.name);
    if (found == members.end()) continue;
    const std::vector<const StoredProcess*>& all = found->second;
    of.title = identity_title((*std::ranges::max_element(all, {}, &StoredProcess::id))->info);
    if (all.size() == 1) of.pid = all.front()->info.key.pid;
  }
}

std::vector<Holding> holders_at(const std::vector<Usage>& identities, const std::optional<Extremum>& peak) {
  std::vector<Holding> holders;
  for (const Usage& of : identities) {
    for (const Interval& bucket : of.series) {
      const bool then = peak && bucket.from_ms <= peak->from_ms && peak->from_ms < bucket.until_ms;
      if (then && bucket.mean) holders.push_back({with_pid(of.title, of.pid), *bucket.mean});
    }
  }
  std::ranges::stable_sort(holders, [](const Holding& a, const Holding& b) { return a.kib > b.kib; });
  holders.resize(std::min(holders.size(), kMostHolders));
  return holders;
}

using MarkOfProcess = std::unordered_map<std::int64_t, HighWater>;

// Marks of processes that were reached on the day: the store keeps them by UTC days.
Result<MarkOfProcess> process_marks(Reader& reader, const Day& day) {
  const Range range{day.begin_ms, day.end_ms - 1};
  const ProcessMarks marks =
      TRY(reader.process_marks(range, range, Metric::hwm, std::numeric_limits<std::size_t>::max()));
  MarkOfProcess highest;
  for (const HighWater& mark : marks.marks) {
    if (reached_on(mark, day)) highest.emplace(mark.subject_id, mark);
  }
  return highest;
}

std::vector<ProcessPeak> highest_processes(const std::vector<StoredProcess>& processes, const MarkOfProcess& marks) {
  std::vector<ProcessPeak> peaks;
  for (const StoredProcess& process : processes) {
    const auto mark = marks.find(process.id);
    if (mark == marks.end()) continue;
    const HighWater& found = mark->second;
    const auto place = std::ranges::find_if(
        peaks, [&found](const ProcessPeak& peak) { return peak.mark.value_kib < found.value_kib; });
    if (place == peaks.end() && peaks.size() == kMostProcesses) continue;
    peaks.insert(place, {process, found});
    if (peaks.size() > kMostProcesses) peaks.pop_back();
  }
  return peaks;
}

// An exec makes a new row of the same process: that is no end.
bool ended(const StoredProcess& process, const Day& day) {
  return process.gone_ms && process.end != "execed" && day.holds(*process.gone_ms);
}

void count_lives(const std::vector<StoredProcess>& processes, DaySummary& summary) {
  constexpr std::int64_t shortly_ms = RestartRule().least_life_ms;
  for (const StoredProcess& process : processes) {
    if (process.info.key.exec_count == 0 && summary.day.holds(process.info.start_ms)) ++summary.began;
    if (!ended(process, summary.day)) continue;
    ++summary.ended;
    if (*process.gone_ms - process.info.start_ms < shortly_ms) ++summary.shortly;
  }
}

std::vector<Restarted> restarts_of(const std::vector<StoredProcess>& processes, const MarkOfProcess& marks,
                                   const Day& day) {
  std::vector<std::string> names;
  std::vector<Life> lives;
  names.reserve(processes.size());  // the lives point into it
  for (const StoredProcess& process : processes) {
    names.push_back(group_key(process, "identity"));
    const auto gone_ms = ended(process, day) ? process.gone_ms : std::nullopt;
    lives.push_back({names.back(), process.info.start_ms, process.last_ms, gone_ms});
  }
  std::map<std::string_view, Restarted> by_identity;
  for (const Restart& restart : find_restarts(lives)) {
    const Life& life = lives[restart.ended];
    Restarted& of = by_identity[life.identity];
    of.name = life.identity;
    of.title = identity_title(processes[restart.begun].info);
    ++of.times;
    of.last_ms = *life.gone_ms;
    of.lived_ms = *life.gone_ms - life.begin_ms;
    of.pause_ms = std::max<std::int64_t>(lives[restart.begun].begin_ms - life.last_ms, 0);
    const auto mark = marks.find(processes[restart.ended].id);
    of.hwm_kib = mark == marks.end() ? std::nullopt : std::optional(mark->second.value_kib);
  }
  std::vector<Restarted> list = taken_from(by_identity);
  std::ranges::stable_sort(list, [](const Restarted& a, const Restarted& b) { return a.times > b.times; });
  return list;
}

// The recorder is among the processes that it records.
Status load_own_memory(const Context& context, const std::vector<StoredProcess>& processes, DaySummary& summary) {
  std::set<std::pair<std::string, std::int32_t>> recorders;
  for (const StoredRun& run : context.runs) recorders.emplace(run.boot.boot_id, run.pid);
  std::vector<Interval> series;
  const Range range{summary.day.begin_ms, summary.day.end_ms - 1};
  for (const StoredProcess& process : processes) {
    if (!recorders.contains({process.boot_id, process.info.key.pid}) || process.info.comm != "memoird") continue;
    TRY(context.reader.history({summary.tier, SubjectKind::process, process.id, range, {Metric::pss}, true},
                               [&series](const SubjectInterval& of) { series.push_back(of.interval); }));
  }
  summary.recorder.pss = figures_of(series, summary.day.begin_ms, summary.day.end_ms);
  return Done{};
}

}  // namespace

Status load_people(const Context& context, const std::vector<HighWater>& marks, DaySummary& summary) {
  Reader& reader = context.reader;
  const Range range{summary.day.begin_ms, summary.day.end_ms - 1};
  std::map<std::int64_t, std::string> names;
  for (const HighWater& mark : marks) {
    if (mark.subject == SubjectKind::category) names[mark.subject_id] = mark.name;
  }
  summary.categories = TRY(load_groups(reader, SubjectKind::category, names, marks, summary));
  warn_of_inexact(summary);

  names.clear();
  const std::vector<StoredIdentity> stored = TRY(load_identities(reader, std::nullopt));
  for (const StoredIdentity& identity : stored) names[identity.id] = identity_name(identity.unit, identity.command);
  summary.identities = TRY(load_groups(reader, SubjectKind::identity, names, marks, summary));
  const std::vector<StoredProcess> processes = TRY(load_processes(reader, range));
  add_titles(processes, summary.identities);
  summary.holders = holders_at(summary.identities, summary.today().used.highest);
  const MarkOfProcess highest = TRY(process_marks(reader, summary.day));
  summary.processes = highest_processes(processes, highest);
  summary.restarts = restarts_of(processes, highest, summary.day);
  count_lives(processes, summary);
  return load_own_memory(context, processes, summary);
}

}  // namespace memoir::query
