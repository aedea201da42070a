#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <unordered_map>

#include "analysis/leak/limits.h"
#include "analysis/leak/pool.h"
#include "base/sorted.h"
#include "query/args/times.h"
#include "query/leaks/groups.h"
#include "query/leaks/judged_leaks.h"
#include "query/leaks/series.h"
#include "query/state/process_columns.h"
#include "store/names.h"

namespace memoir::query {

namespace {

constexpr double kSmallShare = 0.005;  // share of the machine's memory: growth by it is relevant on a small machine
constexpr double kKernelShare = 0.002;
constexpr double kTablesShare = 0.001;
constexpr double kShmemKib = 16384;
constexpr double kShare = 0.05;
constexpr std::int64_t kYoungHours = 48;
constexpr std::size_t kFewMembers = 64;

using ProcessSeries = std::map<std::int64_t, LeakSeries>;

LeakSeries joined(const Group& group, const Generations& generations, const ProcessSeries& series,
                  std::int64_t width_ms) {
  LeakSeries all{{}, width_ms};
  for (std::size_t at = 0; at < group.members.size(); ++at) {
    const auto found = series.find(group.members[at].process_id);
    if (found == series.end()) continue;
    for (LeakBucket bucket : found->second.buckets) {
      bucket.life = generations.of[at];
      all.buckets.push_back(bucket);
    }
  }
  return in_order(std::move(all));
}

void set_lives(LeakSeries& series, const std::vector<std::int64_t>& begins_ms) {
  for (LeakBucket& bucket : series.buckets) {
    const std::int64_t middle_ms = bucket.from_ms + series.width_ms / 2;
    const auto next = std::upper_bound(begins_ms.begin(), begins_ms.end(), middle_ms);
    bucket.life = static_cast<std::int32_t>(std::max<std::ptrdiff_t>(next - begins_ms.begin(), 1)) - 1;
  }
}

// Headroom at the end of a range: the machine's memory, and the cgroups with their limits and processes. If the ticks
// of that time have expired, only the machine's totals are known.
struct LeakRoom {
  MachineMemory machine;
  std::vector<CgroupSample> cgroups;
  std::vector<ProcessState> living;
};

Result<LeakRoom> room_at(Reader& reader, std::int64_t tick_id) {
  Snapshot snapshot = TRY(reader.snapshot(tick_id));
  return LeakRoom{snapshot.machine.memory, std::move(snapshot.cgroups), std::move(snapshot.processes)};
}

Result<LeakRoom> room_rolled_up(Reader& reader, const LeakSource& source) {
  const std::vector<Metric> metrics{metric_of(MachineField::mem_total), metric_of(MachineField::mem_available),
                                    metric_of(MachineField::swap_free)};
  LeakRoom room;
  const Range end{source.range.to_ms - kDayMs, source.range.to_ms};
  TRY(reader.history({source.tier, SubjectKind::machine, {}, end, metrics, true}, [&](const SubjectInterval& of) {
    if (of.interval.last) room.machine.set(*machine_field(of.metric), *of.interval.last);
  }));
  return room;
}

Result<LeakRoom> load_room(Reader& reader, const LeakSource& source) {
  const auto tick = TRY(reader.tick_at(source.range.to_ms));
  return tick ? room_at(reader, tick->id) : room_rolled_up(reader, source);
}

std::vector<LeakLimit> cgroup_limits_of(const LeakRoom& room, const Group& group) {
  std::set<std::string> paths;
  for (const ProcessState& state : room.living) {
    if (state.process.identity_id == group.identity_id) paths.insert(state.process.info.cgroup);
  }
  return cgroup_limits(room.cgroups, {paths.begin(), paths.end()}, room.machine);
}

// Returns the limits of a group's processes: the limits of their cgroups, and the machine's. The nearest one decides.
std::vector<LeakLimit> limits_of(const LeakRoom& room, const Group& group) {
  std::vector<LeakLimit> limits = cgroup_limits_of(room, group);
  const std::vector<LeakLimit> of_machine = machine_limits(room.machine);
  limits.insert(limits.end(), of_machine.begin(), of_machine.end());
  return limits;
}

class StoreJudge {
 public:
  // If `only` is set, judges only this identity.
  StoreJudge(const Context& context, Range range, const LeakSettings& settings,
             std::optional<std::int64_t> only = std::nullopt)
      : reader_(context.reader),
        range_(range),
        settings_(settings),
        source_(leak_source(range, settings)),
        only_(only) {}

  Result<JudgedLeaks> judge() {
    TRY(judge_rows());
    if (!only_) TRY(describe_rows());
    return std::move(judged_);
  }

  Result<LiveLeaks> judge_live() {
    live_ = true;
    TRY(judge_rows());
    const LeakCounts counts = count_leaks(judged_);
    keep_live_leaks(judged_.rows, range_, settings_);
    TRY(describe_rows());
    return LiveLeaks{std::move(judged_.rows), counts};
  }

 private:
  Status judge_rows() {
    TRY(find_room());
    TRY(judge_identities());
    if (only_) return Done{};
    TRY(judge_machine());
    return judge_zombies();
  }

  Status describe_rows() {
    TRY(explain_exited());
    return name_rows();
  }

  Status find_room() {
    room_ = TRY(load_room(reader_, source_));
    ram_kib_ = static_cast<double>(room_.machine.or_zero(MachineField::mem_total));
    limits_ = machine_limits(room_.machine);
    return Done{};
  }

  LeakMetric memory_metric() const {
    LeakMetric metric;
    if (ram_kib_ > 0) metric.min_growth = std::min(metric.min_growth, kSmallShare * ram_kib_);
    return metric;
  }

  Status judge_identities() {
    Groups groups = TRY(load_groups(reader_, range_, only_));
    groups_ = std::move(groups.all);
    judged_.brief = groups.brief;
    // Identities with very many members are only judged by `memoir leaks`.
    if (only_) std::erase_if(groups_, [](const Group& group) { return group.members.size() > kFewMembers; });
    const ProcessSeries series = TRY(process_series(reader_, source_, needed_processes()));
    for (const Group& group : groups_) {
      const Generations generations = generations_of(group);
      TRY(generations.together ? judge_pool_of(group, generations, series) : judge_one(group, generations, series));
    }
    return judge_young();
  }

  // Returns the processes to read. nullopt means all: one pass over all is faster than a query for each of many.
  static std::vector<std::optional<std::int64_t>> members_of(const std::vector<const Group*>& groups) {
    std::vector<std::optional<std::int64_t>> ids;
    for (const Group* const group : groups) {
      for (const StoredLife& member : group->members) ids.emplace_back(member.process_id);
    }
    return ids.size() > kFewMembers ? std::vector{std::optional<std::int64_t>()} : ids;
  }

  // The members of a pool only explain why it does not leak, so live leaks do not need them.
  std::vector<std::optional<std::int64_t>> needed_processes() const {
    if (!only_ && !live_) return {std::nullopt};
    std::vector<const Group*> groups;
    for (const Group& group : groups_) {
      if (only_ || !generations_of(group).together) groups.push_back(&group);
    }
    return members_of(groups);
  }

  Status judge_one(const Group& group, const Generations& generations, const ProcessSeries& series) {
    LeakRow row = row_of(group, memory_metric(), joined(group, generations, series, source_.width_ms));
    row.finding = judge_leak(row.series, row.metric, settings_, limits_ahead(group));
    const std::int64_t history_ms = row.finding.history_ms;
    if (source_.width_ms == kHourMs && history_ms < kYoungHours * settings_.hour_ms && !row.finding.leak) {
      young_.emplace_back(judged_.rows.size(), &group);
    }
    judged_.rows.push_back(std::move(row));
    return Done{};
  }

  static LeakRow row_of(const Group& group, LeakMetric metric, LeakSeries series) {
    LeakRow row{group.subject,     group.unit,        transformed(group.members, &StoredLife::pid),
                std::move(metric), std::move(series), {}};
    row.exited_ms = group.exited_ms;
    row.identity_id = group.identity_id;
    return row;
  }

  // An ended leak reaches no limit.
  std::vector<LeakLimit> limits_ahead(const Group& group) const {
    return group.exited_ms ? std::vector<LeakLimit>() : limits_of(room_, group);
  }

  // Notes the exit in the reason of a leak. Its limit is then the nearest one of its cgroup, which may have ended it.
  Status explain_exited() {
    for (LeakRow& row : judged_.rows) {
      if (!row.exited_ms || !row.finding.leak) continue;
      row.finding.reason += "; it has exited";
      const LeakRoom room = TRY(load_room(reader_, {{range_.from_ms, *row.exited_ms - 1}, source_.tier}));
      const std::vector<LeakLimit> limits = cgroup_limits_of(room, *group_of(row));
      const auto nearest = std::ranges::min_element(limits, {}, &LeakLimit::room);
      if (nearest != limits.end()) row.limit = nearest->name;
    }
    return Done{};
  }

  // Sets the pid of each row, and the title by the newest process of its identity.
  Status name_rows() {
    std::vector<std::int64_t> ids;
    for (const LeakRow& row : judged_.rows) {
      if (const Group* const group = group_of(row)) ids.push_back(group->members.back().process_id);
    }
    const std::vector<StoredProcess> newest = TRY(load_processes_by_id(reader_, ids));
    std::unordered_map<std::int64_t, const ProcessInfo*> infos;
    for (const StoredProcess& process : newest) infos[process.id] = &process.info;
    for (LeakRow& row : judged_.rows) {
      const Group* const group = group_of(row);
      if (group == nullptr) continue;
      const auto info = infos.find(group->members.back().process_id);
      row.title = info == infos.end() ? row.subject : identity_title(*info->second);
      row.pid = only_pid(*group, range_.to_ms);
    }
    return Done{};
  }

  // Returns nullptr for a row of the machine.
  const Group* group_of(const LeakRow& row) const {
    return row.identity_id ? find_sorted(groups_, *row.identity_id, &Group::identity_id) : nullptr;
  }

  // Judges identities that ran for less than two days again, with buckets of five minutes: hours are too coarse for
  // them. Earlier processes are included for comparison.
  Status judge_young() {
    if (young_.empty()) return Done{};
    constexpr std::int64_t times_as_long = 2;
    const Range recent{std::max(range_.from_ms, range_.to_ms - times_as_long * kYoungHours * settings_.hour_ms),
                       range_.to_ms};
    const LeakSource fine = fine_leak_source(recent);
    const ProcessSeries series = TRY(
        process_series(reader_, fine, members_of(transformed(young_, &std::pair<std::size_t, const Group*>::second))));
    for (const auto& [at, group] : young_) {
      LeakRow& row = judged_.rows[at];
      LeakSeries finer = joined(*group, generations_of(*group), series, fine.width_ms);
      LeakFinding found = judge_leak(finer, row.metric, settings_, limits_ahead(*group));
      if (!found.leak && row.finding.verdict != LeakVerdict::insufficient) continue;
      row.series = std::move(finer);
      row.finding = std::move(found);
    }
    return Done{};
  }

  Status judge_pool_of(const Group& group, const Generations& generations, const ProcessSeries& series) {
    PoolSeries sums = TRY(pool_series(reader_, source_, group.identity_id, group.members));
    set_lives(sums.sum, generations.begins_ms);
    set_lives(sums.count, generations.begins_ms);
    LeakPool pool{std::move(sums.sum), std::move(sums.count), {}};
    for (const StoredLife& member : live_ ? std::span<const StoredLife>() : std::span(group.members)) {
      const auto found = series.find(member.process_id);
      if (found != series.end()) pool.members.push_back(found->second);
    }
    LeakRow row = row_of(group, memory_metric(), pool.sum);
    row.finding = judge_pool(pool, row.metric, settings_, limits_ahead(group));
    const bool counted = row.finding.verdict == LeakVerdict::count;
    judged_.rows.push_back(std::move(row));
    if (counted) return Done{};
    LeakRow count = row_of(group, process_count_metric(), std::move(pool.count));
    count.finding = judge_leak(count.series, count.metric, settings_);
    if (count.finding.leak) judged_.rows.push_back(std::move(count));
    return Done{};
  }

  Status judge_machine() {
    using F = MachineField;
    const double kernel = kKernelShare * ram_kib_;
    const double shmem = std::min(kShmemKib, 4 * kSmallShare * ram_kib_);
    const std::vector<std::pair<LeakMetric, MachineSum>> metrics{
        {{"shmem", shmem, kShare}, {F::shmem}},
        {{"tmpfs", shmem, kShare}, {F::tmpfs}},
        {{"sysv", shmem, kShare}, {F::sysv}},
        {{"slab-unreclaimable", kernel, kShare}, {F::slab_unreclaimable}},
        {{"kernel-stacks", kernel, kShare}, {F::kernel_stack}},
        {{"percpu", kernel, kShare}, {F::percpu}},
        {{"vmalloc", kernel, kShare}, {F::vmalloc_used}},
        {{"page-tables", kTablesShare * ram_kib_, kShare}, {F::page_tables}},
        // Memory that no counter of the kernel includes: drivers, firmware, pages that were never returned.
        {{"unaccounted", kernel, kShare},
         {F::mem_total,
          {F::mem_free, F::active, F::inactive, F::unevictable, F::slab, F::page_tables, F::sec_page_tables,
           F::kernel_stack, F::shadow_call_stack, F::percpu, F::hugetlb, F::zswap, F::balloon}}},
    };
    if (ram_kib_ <= 0) return Done{};
    std::vector<LeakSeries> series =
        TRY(machine_series(reader_, source_, transformed(metrics, &std::pair<LeakMetric, MachineSum>::second)));
    const std::vector<std::int64_t> boots = boots_ms();
    for (std::size_t at = 0; at < metrics.size(); ++at) {
      set_lives(series[at], boots);
      add_machine(metrics[at].first, std::move(series[at]), limits_);
    }
    return Done{};
  }

  Status judge_zombies() {
    LeakSeries series = TRY(zombie_series(reader_, source_, settings_));
    set_lives(series, boots_ms());
    add_machine({"zombies", 20, 0, LeakUnit::count}, std::move(series), {});
    return Done{};
  }

  void add_machine(const LeakMetric& metric, LeakSeries series, const std::vector<LeakLimit>& limits) {
    if (series.buckets.empty()) return;
    LeakRow row{"machine", "", {}, metric, std::move(series), {}};
    row.title = row.subject;
    row.finding = judge_leak(row.series, row.metric, settings_, limits);
    judged_.rows.push_back(std::move(row));
  }

  std::vector<std::int64_t> boots_ms() {
    std::set<std::int64_t> boots;
    std::string last;
    const Result<std::vector<StoredRun>> runs = reader_.runs();
    if (!runs) return {};
    for (const StoredRun& run : *runs) {
      if (run.boot.boot_id != last) boots.insert(run.boot.boot_ms);
      last = run.boot.boot_id;
    }
    return {boots.begin(), boots.end()};
  }

  Reader& reader_;
  Range range_;
  LeakSettings settings_;
  LeakSource source_;
  std::optional<std::int64_t> only_;
  LeakRoom room_;
  double ram_kib_ = 0;
  std::vector<LeakLimit> limits_;
  std::vector<Group> groups_;
  bool live_ = false;
  JudgedLeaks judged_;
  std::vector<std::pair<std::size_t, const Group*>> young_;
};

}  // namespace

Result<JudgedLeaks> judge_store(const Context& context, Range range, const LeakSettings& settings) {
  return StoreJudge(context, range, settings).judge();
}

Result<LiveLeaks> judge_live_leaks(const Context& context, Range range, const LeakSettings& settings) {
  return StoreJudge(context, range, settings).judge_live();
}

Result<std::vector<LeakRow>> judge_identity(const Context& context, std::int64_t identity_id, Range range,
                                            const LeakSettings& settings) {
  JudgedLeaks judged = TRY(StoreJudge(context, range, settings, identity_id).judge());
  return std::move(judged.rows);
}

}  // namespace memoir::query
