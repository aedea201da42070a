#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <list>
#include <map>
#include <set>

#include "analysis/leak_pool.h"
#include "query/leaks.h"
#include "query/leaks_series.h"

namespace memoir::query {

namespace {

constexpr double kSmallShare = 0.005;  // of the machine's memory: what matters on a small one
constexpr double kKernelShare = 0.002;
constexpr double kTablesShare = 0.001;
constexpr double kShmemKib = 16384;
constexpr double kShare = 0.05;
constexpr std::int64_t kYoungHours = 48;

// The processes of one identity; in a file that knows none, one process.
struct Group {
  std::int64_t identity_id = 0;
  std::string subject;
  std::string unit;
  std::vector<StoredProcess> members;  // by birth
};

std::string subject_of(const StoredProcess& process) {
  if (!process.identity.empty()) return process.identity;
  return process.info.comm.empty() ? fmt::format("pid {}", process.info.key.pid) : process.info.comm;
}

std::vector<Group> groups_of(std::vector<StoredProcess> processes) {
  std::stable_sort(processes.begin(), processes.end(),
                   [](const StoredProcess& a, const StoredProcess& b) { return a.first_ms < b.first_ms; });
  std::map<std::int64_t, Group> groups;
  for (StoredProcess& process : processes) {
    const std::int64_t key = process.identity_id > 0 ? process.identity_id : -process.id;
    Group& group = groups[key];
    if (group.members.empty())
      group = {std::max<std::int64_t>(process.identity_id, 0), subject_of(process), process.unit, {}};
    group.members.push_back(std::move(process));
  }
  std::vector<Group> all;
  all.reserve(groups.size());
  for (auto& [key, group] : groups) all.push_back(std::move(group));
  return all;
}

// Of each member the generation: a new one begins where all before it are gone.
struct Generations {
  std::vector<std::int32_t> of;
  std::vector<std::int64_t> begins_ms;
  bool together = false;  // several lived at one time
};

Generations generations_of(const Group& group) {
  Generations found;
  std::int64_t gone_ms = std::numeric_limits<std::int64_t>::min();
  for (const StoredProcess& member : group.members) {
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

using ProcessSeries = std::map<std::int64_t, LeakSeries>;

LeakSeries joined(const Group& group, const Generations& generations, const ProcessSeries& series,
                  std::int64_t width_ms) {
  LeakSeries all{{}, width_ms};
  for (std::size_t at = 0; at < group.members.size(); ++at) {
    const auto found = series.find(group.members[at].id);
    if (found == series.end()) continue;
    for (LeakBucket bucket : found->second.buckets) {
      bucket.life = generations.of[at];
      all.buckets.push_back(bucket);
    }
  }
  return all;
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
  StoreJudge(const Context& context, Range range, const LeakSettings& settings)
      : reader_(context.reader), range_(range), settings_(settings), source_(leak_source(range, settings)) {}

  Result<std::vector<LeakRow>> judge() {
    for (const auto step : {&StoreJudge::find_room, &StoreJudge::judge_identities, &StoreJudge::judge_machine,
                            &StoreJudge::judge_zombies}) {
      const Status done = (this->*step)();
      if (!done) return done.error();
    }
    return std::move(rows_);
  }

 private:
  Status find_room() {
    const auto tick = reader_.tick_at(range_.to_ms);
    if (!tick) return tick.error();
    if (!*tick) return Done{};
    const auto snapshot = reader_.snapshot((*tick)->id);
    if (!snapshot) return snapshot.error();
    const MachineMemory& memory = snapshot->machine.memory;
    ram_kib_ = static_cast<double>(memory.get(MachineField::mem_total).value_or(0));
    if (const auto available = memory.get(MachineField::mem_available)) {
      const std::int64_t swap = memory.get(MachineField::swap_free).value_or(0);
      limits_ = {{"the machine's memory", static_cast<double>(*available + swap)}};
    }
    return Done{};
  }

  LeakMetric memory_metric() const {
    LeakMetric metric;
    if (ram_kib_ > 0) metric.least_growth = std::min(metric.least_growth, kSmallShare * ram_kib_);
    return metric;
  }

  Status judge_identities() {
    Result<std::vector<StoredProcess>> processes = reader_.processes(range_);
    if (!processes) return processes.error();
    const Result<ProcessSeries> series = process_series(reader_, source_);
    if (!series) return series.error();
    for (const Group& group : groups_of(std::move(*processes))) {
      const Generations generations = generations_of(group);
      const Status judged =
          generations.together ? judge_pool_of(group, generations, *series) : judge_one(group, generations, *series);
      if (!judged) return judged.error();
    }
    return judge_young();
  }

  Status judge_one(const Group& group, const Generations& generations, const ProcessSeries& series) {
    LeakRow row{group.subject,
                group.unit,
                pids_of(group),
                memory_metric(),
                joined(group, generations, series, source_.width_ms),
                {}};
    row.finding = judge_leak(row.series, row.metric, settings_, limits_);
    const std::int64_t history_ms = row.finding.history_ms;
    if (source_.tier == Tier::hour && history_ms < kYoungHours * settings_.hour_ms && !row.finding.leak) {
      young_.emplace_back(rows_.size(), &groups_.emplace_back(group));
    }
    rows_.push_back(std::move(row));
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
    const Result<ProcessSeries> series = process_series(reader_, fine);
    if (!series) return series.error();
    for (const auto& [at, group] : young_) {
      LeakRow& row = rows_[at];
      LeakSeries finer = joined(*group, generations_of(*group), *series, fine.width_ms);
      LeakFinding found = judge_leak(finer, row.metric, settings_, limits_);
      if (!found.leak && row.finding.verdict != LeakVerdict::insufficient) continue;
      row.series = std::move(finer);
      row.finding = std::move(found);
    }
    return Done{};
  }

  Status judge_pool_of(const Group& group, const Generations& generations, const ProcessSeries& series) {
    Result<PoolSeries> sums = pool_series(reader_, source_, group.identity_id, group.members);
    if (!sums) return sums.error();
    set_lives(sums->sum, generations.begins_ms);
    set_lives(sums->count, generations.begins_ms);
    LeakPool pool{std::move(sums->sum), std::move(sums->count), {}};
    for (const StoredProcess& member : group.members) {
      const auto found = series.find(member.id);
      if (found != series.end()) pool.members.push_back(found->second);
    }
    LeakRow row{group.subject, group.unit, pids_of(group), memory_metric(), pool.sum, {}};
    row.finding = judge_pool(pool, row.metric, settings_, limits_);
    const bool counted = row.finding.verdict == LeakVerdict::count;
    rows_.push_back(std::move(row));
    if (counted) return Done{};
    LeakRow count{group.subject, group.unit, pids_of(group), process_count_metric(), std::move(pool.count), {}};
    count.finding = judge_leak(count.series, count.metric, settings_);
    if (count.finding.leak) rows_.push_back(std::move(count));
    return Done{};
  }

  static std::set<std::int32_t> pids_of(const Group& group) {
    std::set<std::int32_t> pids;
    for (const StoredProcess& member : group.members) pids.insert(member.info.key.pid);
    return pids;
  }

  Status judge_machine() {
    const double kernel = kKernelShare * ram_kib_;
    const std::vector<std::pair<LeakMetric, MachineSum>> metrics{
        {{"shmem, tmpfs", std::min(kShmemKib, 4 * kSmallShare * ram_kib_), kShare}, {{{"shmem_kib", 1}}}},
        {{"slab-unreclaimable", kernel, kShare}, {{{"slab_unreclaimable_kib", 1}}}},
        {{"kernel-stacks", kernel, kShare}, {{{"kernel_stack_kib", 1}}}},
        {{"percpu", kernel, kShare}, {{{"percpu_kib", 1}}}},
        {{"vmalloc", kernel, kShare}, {{{"vmalloc_used_kib", 1}}}},
        {{"page-tables", kTablesShare * ram_kib_, kShare}, {{{"page_tables_kib", 1}}}},
        // What no list of the kernel holds: drivers, firmware, pages that were never given back.
        {{"unaccounted", kernel, kShare},
         {{{"mem_total_kib", 1},
           {"mem_free_kib", -1},
           {"active_kib", -1},
           {"inactive_kib", -1},
           {"unevictable_kib", -1},
           {"slab_kib", -1},
           {"page_tables_kib", -1},
           {"sec_page_tables_kib", -1},
           {"kernel_stack_kib", -1},
           {"shadow_call_stack_kib", -1},
           {"percpu_kib", -1},
           {"hugetlb_kib", -1},
           {"zswap_kib", -1},
           {"balloon_kib", -1}}}},
    };
    if (ram_kib_ <= 0) return Done{};
    std::vector<MachineSum> sums;
    sums.reserve(metrics.size());
    for (const auto& [metric, sum] : metrics) sums.push_back(sum);
    Result<std::vector<LeakSeries>> series = machine_series(reader_, source_, sums);
    if (!series) return series.error();
    const std::vector<std::int64_t> boots = boots_ms();
    for (std::size_t at = 0; at < metrics.size(); ++at) {
      set_lives((*series)[at], boots);
      add_machine(metrics[at].first, std::move((*series)[at]), limits_);
    }
    return Done{};
  }

  Status judge_zombies() {
    Result<LeakSeries> series = zombie_series(reader_, source_, settings_);
    if (!series) return series.error();
    set_lives(*series, boots_ms());
    add_machine({"zombies", 20, 0, LeakUnit::count}, std::move(*series), {});
    return Done{};
  }

  void add_machine(const LeakMetric& metric, LeakSeries series, const std::vector<LeakLimit>& limits) {
    if (series.buckets.empty()) return;
    LeakRow row{"machine", "", {}, metric, std::move(series), {}};
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
  double ram_kib_ = 0;
  std::vector<LeakLimit> limits_;
  std::vector<LeakRow> rows_;
  std::list<Group> groups_;  // those that are looked at again
  std::vector<std::pair<std::size_t, const Group*>> young_;
};

}  // namespace

Result<std::vector<LeakRow>> judge_store(const Context& context, Range range, const LeakSettings& settings) {
  return StoreJudge(context, range, settings).judge();
}

}  // namespace memoir::query
