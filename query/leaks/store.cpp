#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "analysis/leak/limits.h"
#include "analysis/leak/pool.h"
#include "query/leaks/groups.h"
#include "query/leaks/judged_leaks.h"
#include "query/leaks/room.h"
#include "query/leaks/series.h"
#include "query/state/process_columns.h"
#include "store/names.h"

namespace memoir::query {

namespace {

constexpr double kSmallShare = 0.005;  // of the machine's memory: what matters on a small one
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

class StoreJudge {
 public:
  // `only`: of this identity.
  StoreJudge(const Context& context, Range range, const LeakSettings& settings,
             std::optional<std::int64_t> only = std::nullopt)
      : reader_(context.reader),
        range_(range),
        settings_(settings),
        source_(leak_source(range, settings)),
        only_(only) {}

  Result<std::vector<LeakRow>> judge() {
    if (only_) {
      TRY(find_room());
      TRY(judge_identities());
      return std::move(rows_);
    }
    for (const auto step : {&StoreJudge::find_room, &StoreJudge::judge_identities, &StoreJudge::explain_ended,
                            &StoreJudge::name_rows, &StoreJudge::judge_machine, &StoreJudge::judge_zombies}) {
      TRY((this->*step)());
    }
    return std::move(rows_);
  }

 private:
  Status find_room() {
    room_ = TRY(load_room(reader_, source_));
    ram_kib_ = static_cast<double>(room_.machine.or_zero(MachineField::mem_total));
    limits_ = machine_limits(room_.machine);
    return Done{};
  }

  LeakMetric memory_metric() const {
    LeakMetric metric;
    if (ram_kib_ > 0) metric.least_growth = std::min(metric.least_growth, kSmallShare * ram_kib_);
    return metric;
  }

  Status judge_identities() {
    groups_ = TRY(load_groups(reader_, range_));
    // Whose members are very many is for who asks for leaks.
    if (only_) {
      std::erase_if(groups_, [&](const Group& group) {
        return group.identity_id != *only_ || group.members.size() > kFewMembers;
      });
    }
    const ProcessSeries series = TRY(process_series(reader_, source_, asked()));
    for (const Group& group : groups_) {
      const Generations generations = generations_of(group);
      TRY(generations.together ? judge_pool_of(group, generations, series) : judge_one(group, generations, series));
    }
    return judge_young();
  }

  std::vector<std::optional<std::int64_t>> asked() const {
    if (!only_) return {std::nullopt};
    std::vector<std::optional<std::int64_t>> ids;
    for (const Group& group : groups_) {
      for (const StoredLife& member : group.members) ids.emplace_back(member.process_id);
    }
    return ids;
  }

  Status judge_one(const Group& group, const Generations& generations, const ProcessSeries& series) {
    LeakRow row = row_of(group, memory_metric(), joined(group, generations, series, source_.width_ms));
    row.finding = judge_leak(row.series, row.metric, settings_, limits_ahead(group));
    const std::int64_t history_ms = row.finding.history_ms;
    if (source_.tier == Tier::hour && history_ms < kYoungHours * settings_.hour_ms && !row.finding.leak) {
      young_.emplace_back(rows_.size(), &group);
    }
    add(group, std::move(row));
    return Done{};
  }

  void add(const Group& group, LeakRow row) {
    rows_.push_back(std::move(row));
    groups_of_rows_.push_back(&group);
  }

  static LeakRow row_of(const Group& group, LeakMetric metric, LeakSeries series) {
    LeakRow row{group.subject,     group.unit,        each_of(group.members, &StoredLife::pid),
                std::move(metric), std::move(series), {}};
    row.ended_ms = group.ended_ms;
    return row;
  }

  // What has ended runs into nothing any more.
  std::vector<LeakLimit> limits_ahead(const Group& group) const {
    return group.ended_ms ? std::vector<LeakLimit>() : limits_of(room_, group);
  }

  // A life that ended tells of its identity, and what may have ended it is a limit of its cgroup.
  Status explain_ended() {
    for (std::size_t at = 0; at < rows_.size(); ++at) {
      LeakRow& row = rows_[at];
      if (!row.ended_ms || !row.finding.leak) continue;
      row.finding.reason += "; it has ended";
      const LeakRoom room = TRY(load_room(reader_, {{range_.from_ms, *row.ended_ms - 1}, source_.tier}));
      const std::vector<LeakLimit> limits = cgroup_limits_of(room, *groups_of_rows_[at]);
      const auto nearest = std::ranges::min_element(limits, {}, &LeakLimit::room);
      if (nearest != limits.end()) row.limit = nearest->name;
    }
    return Done{};
  }

  // By the newest process of each identity.
  Status name_rows() {
    const std::vector<StoredProcess> newest = TRY(load_processes_by_id(
        reader_, each_of(groups_, [](const Group& group) { return group.members.back().process_id; })));
    std::unordered_map<std::int64_t, const ProcessInfo*> infos;
    for (const StoredProcess& process : newest) infos[process.id] = &process.info;
    for (std::size_t at = 0; at < rows_.size(); ++at) {
      const Group& group = *groups_of_rows_[at];
      const auto info = infos.find(group.members.back().process_id);
      rows_[at].title = info == infos.end() ? rows_[at].subject : identity_title(*info->second);
      rows_[at].pid = only_pid(group, range_.to_ms);
    }
    return Done{};
  }

  // Lives of less than two days, for which hours are too coarse: again by five minutes, with what was before them to
  // compare with.
  Status judge_young() {
    if (young_.empty()) return Done{};
    constexpr std::int64_t times_as_long = 2;
    const Range recent{std::max(range_.from_ms, range_.to_ms - times_as_long * kYoungHours * settings_.hour_ms),
                       range_.to_ms};
    const LeakSource fine{recent, Tier::five_minutes, bucket_ms(Tier::five_minutes)};
    const ProcessSeries series = TRY(process_series(reader_, fine, asked()));
    for (const auto& [at, group] : young_) {
      LeakRow& row = rows_[at];
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
    for (const StoredLife& member : group.members) {
      const auto found = series.find(member.process_id);
      if (found != series.end()) pool.members.push_back(found->second);
    }
    LeakRow row = row_of(group, memory_metric(), pool.sum);
    row.finding = judge_pool(pool, row.metric, settings_, limits_ahead(group));
    const bool counted = row.finding.verdict == LeakVerdict::count;
    add(group, std::move(row));
    if (counted) return Done{};
    LeakRow count = row_of(group, process_count_metric(), std::move(pool.count));
    count.finding = judge_leak(count.series, count.metric, settings_);
    if (count.finding.leak) add(group, std::move(count));
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
        // What no list of the kernel holds: drivers, firmware, pages that were never given back.
        {{"unaccounted", kernel, kShare},
         {F::mem_total,
          {F::mem_free, F::active, F::inactive, F::unevictable, F::slab, F::page_tables, F::sec_page_tables,
           F::kernel_stack, F::shadow_call_stack, F::percpu, F::hugetlb, F::zswap, F::balloon}}},
    };
    if (ram_kib_ <= 0) return Done{};
    std::vector<LeakSeries> series =
        TRY(machine_series(reader_, source_, each_of(metrics, &std::pair<LeakMetric, MachineSum>::second)));
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
    rows_.push_back(std::move(row));
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
  std::vector<LeakRow> rows_;  // those of groups first
  std::vector<const Group*> groups_of_rows_;
  std::vector<std::pair<std::size_t, const Group*>> young_;
};

}  // namespace

Result<std::vector<LeakRow>> judge_store(const Context& context, Range range, const LeakSettings& settings) {
  return StoreJudge(context, range, settings).judge();
}

Result<std::vector<LeakRow>> judge_identity(const Context& context, std::int64_t identity_id, Range range,
                                            const LeakSettings& settings) {
  return StoreJudge(context, range, settings, identity_id).judge();
}

}  // namespace memoir::query
