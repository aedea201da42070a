#include "query/commands/export/fleet.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <set>
#include <utility>

#include "query/args/times.h"
#include "query/history/recording.h"
#include "query/history/tier.h"
#include "query/state/cgroup_rows.h"
#include "query/state/process_columns.h"
#include "query/state/state.h"
#include "store/events.h"
#include "store/names.h"

namespace memoir::query {
namespace {

// Families of the values of FleetOf, in the same order.
const std::vector<Family>& own_families() {
  constexpr double kib = 1024;
  constexpr double ms = 1e-3;
  static const std::vector<Family> families{
      {"memoir_machine_used_peak_bytes", "Highest use since the last write", "bytes", false, kib},
      {"memoir_category_pss_peak_bytes", "Highest PSS of the category since the last write", "bytes", false, kib},
      {"memoir_identity_pss_bytes", "PSS of the processes of a program in a unit", "bytes", false, kib},
      {"memoir_identity_rss_bytes", "RSS of the processes of a program in a unit", "bytes", false, kib},
      {"memoir_identity_swap_bytes", "Swap of the processes of a program in a unit", "bytes", false, kib},
      {"memoir_identity_processes", "Processes of a program in a unit", "", false, 1},
      {"memoir_identity_pss_peak_bytes", "Highest PSS of a program in a unit since the last write", "bytes", false,
       kib},
      {"memoir_cgroup_usage_bytes", "memory.current", "bytes", false, kib},
      {"memoir_cgroup_anon_bytes", "Anonymous memory in memory.current", "bytes", false, kib},
      {"memoir_cgroup_file_bytes", "Page cache in memory.current", "bytes", false, kib},
      {"memoir_cgroup_swap_bytes", "memory.swap.current", "bytes", false, kib},
      {"memoir_cgroup_limit_bytes", "memory.max, where there is a limit", "bytes", false, kib},
      {"memoir_cgroup_usage_peak_bytes", "Highest memory.current since the last write", "bytes", false, kib},
      {"memoir_cgroup_oom_kills", "OOM kills in the cgroup", "", true, 1},
      {"memoir_cgroup_memory_waiting_seconds", "Time in which a process of the cgroup waited for memory", "seconds",
       true, 1e-6},
      {"memoir_oom_kill_timestamp_seconds", "Time of the last OOM kill of a program, within the last day", "seconds",
       false, ms},
      {"memoir_leaks", "Number of leaks", "", false, 1},
      {"memoir_leaks_judged_timestamp_seconds", "Time of the last search for leaks", "seconds", false, ms},
      {"memoir_leak_growth_bytes_per_second", "Growth rate of a leak", "", false, 1.0 / 86400},
      {"memoir_leak_growth_items_per_second", "Growth rate of the number of processes or zombies", "", false,
       1.0 / 86400 / 1000},
      {"memoir_leak_exhaustion_seconds", "Time until the limit is reached at that rate", "seconds", false, ms},
      {"memoir_leak_confidence_ratio", "Confidence of the verdict", "ratio", false, 1e-2},
      {"memoir_recorder_up", "1 while memoird records, otherwise 0", "", false, 1},
      {"memoir_recorder_info", "Version of memoird", "", false, 1},
      {"memoir_recorder_start_timestamp_seconds", "Start of this run of memoird", "seconds", false, ms},
      {"memoir_recorder_last_tick_timestamp_seconds", "Time of the last tick", "seconds", false, ms},
      {"memoir_recorder_interval_seconds", "Interval between ticks", "seconds", false, ms},
      {"memoir_recorder_late_ticks", "Ticks missed within the last hour", "", false, 1},
      {"memoir_recorder_cpu_ratio", "Share of one core that memoird used over the last hour", "ratio", false, 1e-6},
      {"memoir_recorder_resident_bytes", "RSS of memoird", "bytes", false, kib},
      {"memoir_database_size_bytes", "Size of the database, with its log", "bytes", false, 1},
      {"memoir_database_limit_bytes", "Maximum size of the database", "bytes", false, 1},
  };
  return families;
}

std::string program_in(const StoredProcess& process) {
  return program_of(process.identity.empty() ? process.info.comm : process.identity);
}

// Returns how many ranks to keep, so that their series together do not exceed kMaxFleetSeries.
std::size_t ranks_to_keep(const std::vector<FleetSample>& samples) {
  std::map<std::size_t, std::size_t> of_rank;
  for (const FleetSample& sample : samples) ++of_rank[sample.rank];
  std::size_t all = 0;
  for (const auto& [rank, count] : of_rank) {
    all += count;
    if (all > kMaxFleetSeries) return rank;
  }
  return samples.size();
}

class Gatherer {
 public:
  Gatherer(const Context& context, const FleetQuery& question) : context_(context), question_(question) {}

  Status gather(const FleetLeaks& leaks) {
    std::optional<State> state = TRY(load());
    if (!state) return Done{};
    TRY(machine(*state));
    TRY(categories(*state));
    TRY(identities(*state));
    TRY(cgroups(*state));
    TRY(oom_kills());
    add_leaks(leaks, question_.at_ms, answer_.samples);
    return recorder(*state);
  }

  void recorder_at_rest() {
    add(FleetOf::recorder_up, 0, question_.labels);
    if (!context_.runs.empty()) run(context_.runs.back());
    if (context_.file.ticks > 0) add(FleetOf::recorder_last_tick, context_.file.last_tick_ms, question_.labels);
    file();
  }

  // Returns each series once, because an exporter rejects everything if a series occurs twice. Two names may be equal
  // in printable form: only the series of the larger subject is returned.
  FleetAnswer take() {
    auto& samples = answer_.samples;
    std::ranges::stable_sort(samples, {}, &FleetSample::family);
    std::set<std::pair<std::size_t, std::string_view>> seen;
    std::vector<FleetSample> once;
    once.reserve(samples.size());
    for (const FleetSample& sample : samples) {
      if (seen.emplace(sample.family, sample.labels).second) once.push_back(sample);
    }
    const std::size_t keep = ranks_to_keep(once);
    answer_.left_out = std::erase_if(once, [keep](const FleetSample& sample) { return sample.rank >= keep; });
    samples = std::move(once);
    return std::move(answer_);
  }

 private:
  using Key = std::pair<std::string, std::string>;  // unit and program

  void add(FleetOf of, std::optional<std::int64_t> value, const std::string& labels, std::size_t rank = 0) {
    if (value) answer_.samples.push_back({family_of(of), labels, *value, rank});
  }
  std::string with(std::string_view more) const { return fmt::format("{},{}", question_.labels, more); }

  // Loads the state of the tick, or of the full rollup bucket, even if it starts before the recording.
  Result<std::optional<State>> load() {
    const std::int64_t at_ms = question_.at_ms;
    const Range bucket = bucket_around(question_.tier, at_ms);
    const std::int64_t asked_ms = std::max(at_ms, std::min(bucket.to_ms - 1, context_.file.last_tick_ms));
    std::optional<State> state = TRY(load_state(context_, asked_ms, question_.tier));
    if (!state) return state;
    const std::int64_t before_ms = question_.since_ms.value_or(state->at_ms - state->run.interval_ms);
    since_ = {std::clamp(before_ms, state->at_ms - kHourMs, state->at_ms), state->at_ms};
    if (const auto means = means_over(*state)) since_ = means->bucket;
    return state;
  }

  Status machine(const State& state) {
    const MachineMemory& memory = state.machine.memory;
    visit_machine(memory, [&](std::size_t family, std::int64_t value) {
      answer_.samples.push_back({family, question_.labels, value});
    });
    const Metric available = metric_of(MachineField::mem_available);
    std::optional<std::int64_t> least;
    TRY(context_.reader.history({state.tier(), SubjectKind::machine, {}, since_, {available}},
                                [&least](const SubjectInterval& of) {
                                  if (of.interval.min)
                                    least = std::min(least.value_or(*of.interval.min), *of.interval.min);
                                }));
    const auto total = memory.get(MachineField::mem_total);
    if (least && total) add(FleetOf::machine_peak, *total - *least, question_.labels);
    return Done{};
  }

  Result<std::map<std::string, std::int64_t>> group_peaks(const State& state, SubjectKind kind, Metric metric) {
    std::map<std::string, std::int64_t> peaks;
    TRY(visit_groups(context_.reader, {state.tier(), kind, {}, since_, {metric}},
                     [&peaks](const std::string& name, const SubjectInterval& of) {
                       peaks[name] = std::max(peaks[name], of.interval.max.value_or(0));
                     }));
    return peaks;
  }

  Status categories(State& state) {
    std::map<std::string, std::int64_t> peaks = TRY(group_peaks(state, SubjectKind::category, Metric::pss));
    std::ranges::stable_sort(state.categories, std::greater(),
                             [](const GroupState& of) { return of.kib[Metric::pss].value_or(0); });
    const std::size_t first = machine_families().size();
    for (std::size_t rank = 0; rank < std::min(state.categories.size(), question_.most); ++rank) {
      const GroupState& held = state.categories[rank];
      const std::string labels = with(short_label("category", held.name));
      visit_category(held, [&](std::size_t family, std::int64_t value) {
        answer_.samples.push_back({first + family, labels, value, rank});
      });
      const std::int64_t now_kib = held.kib[Metric::pss].value_or(0);
      add(FleetOf::category_peak, std::max(peaks[held.name], now_kib), labels, rank);
    }
    return Done{};
  }

  // Returns the peaks from ticks. Rollups do not have the memory of several processes at one time.
  Result<std::map<Key, std::int64_t>> identity_peaks(const State& state) {
    std::map<Key, std::int64_t> peaks;
    if (means_over(state)) return peaks;
    std::map<std::int64_t, Key> keys;
    TRY(visit_processes(context_.reader, since_, [&](const StoredProcess& process) {
      keys[process.id] = {process.unit, program_in(process)};
    }));
    std::map<Key, GroupSum> sums;
    TRY(context_.reader.history({.range = since_, .metrics = {Metric::pss}}, [&](const SubjectInterval& of) {
      if (const auto key = keys.find(of.subject_id); key != keys.end())
        sums[key->second].add(of.subject_id, of.interval, false, of.pass);
    }));
    for (auto& [key, sum] : sums) peaks[key] = sum.summary().max.value_or(0);
    return peaks;
  }

  Status identities(const State& state) {
    const std::map<Key, std::int64_t> peaks = TRY(identity_peaks(state));
    std::map<Key, Tally> held;
    for (const ProcessUse& process : state.processes)
      add_to(held[{process.process->unit, program_in(*process.process)}], process);
    std::vector<std::pair<Key, Tally>> largest(held.begin(), held.end());
    std::ranges::stable_sort(largest, std::greater(),
                             [](const auto& of) { return of.second.kib(Metric::pss).value_or(0); });
    for (std::size_t rank = 0; rank < std::min(largest.size(), question_.most); ++rank) {
      const auto& [key, tally] = largest[rank];
      const std::string labels = with(short_label("unit", key.first) + "," + short_label("program", key.second));
      add(FleetOf::identity_pss, tally.kib(Metric::pss), labels, rank);
      add(FleetOf::identity_rss, tally.kib(Metric::rss), labels, rank);
      add(FleetOf::identity_swap, tally.kib(Metric::swap), labels, rank);
      add(FleetOf::identity_processes, tally.processes(), labels, rank);
      const auto peak = peaks.find(key);
      if (peak != peaks.end())
        add(FleetOf::identity_peak, std::max(peak->second, tally.kib(Metric::pss).value_or(0)), labels, rank);
    }
    return Done{};
  }

  // Adds cgroups by the kernel's own count, which rollups lack.
  Status cgroups(const State& state) {
    if (!state.cgroups || state.cgroups->empty()) return Done{};
    std::map<std::string, std::int64_t> peaks = TRY(group_peaks(state, SubjectKind::cgroup, Metric::usage));
    std::vector<CgroupRow> rows = TRY(load_cgroups(context_, state, CgroupMarks::left_out));
    std::erase_if(rows, [](const CgroupRow& row) { return !row.now; });
    std::ranges::stable_sort(rows, std::greater(), [](const CgroupRow& row) { return row.now->current_kib; });
    for (std::size_t rank = 0; rank < std::min(rows.size(), question_.most); ++rank) {
      const CgroupRow& row = rows[rank];
      std::string labels = with(short_label("cgroup", row.path));
      if (!row.container.name.empty()) labels += "," + short_label("container", row.container.name);
      if (!row.container.pod.empty()) labels += "," + short_label("pod", row.container.pod);
      add(FleetOf::cgroup_usage, row.now->current_kib, labels, rank);
      add(FleetOf::cgroup_anon, row.now->anon_kib, labels, rank);
      add(FleetOf::cgroup_file, row.now->file_kib, labels, rank);
      add(FleetOf::cgroup_swap, row.now->swap_kib, labels, rank);
      add(FleetOf::cgroup_limit, row.now->max_kib, labels, rank);
      add(FleetOf::cgroup_peak, std::max(peaks[row.path], row.now->current_kib), labels, rank);
      const auto kills = row.detail.oom_kills ? row.detail.oom_kills : row.detail.own_oom_kills;
      add(FleetOf::cgroup_oom_kills, kills, labels, rank);
      add(FleetOf::cgroup_waited, row.detail.psi_some_total_us, labels, rank);
    }
    return Done{};
  }

  // Adds the times of OOM kills. If several victims have one name, the last kill counts.
  Status oom_kills() {
    std::vector<OomVictim> victims =
        TRY(load_oom_victims(context_.reader, {question_.at_ms - kDayMs, question_.at_ms}));
    std::ranges::reverse(victims);
    std::size_t rank = 0;
    for (const OomVictim& victim : victims) {
      if (!victim.killed() || rank >= question_.most) continue;
      add(FleetOf::oom_kill_at, victim.at_ms,
          with(short_label("program", victim.comm) + "," + short_label("cgroup", victim.cgroup)), rank++);
    }
    return Done{};
  }

  void run(const StoredRun& run) {
    add(FleetOf::recorder_info, 1, with(short_label("version", run.version)));
    add(FleetOf::recorder_started, run.started_ms, question_.labels);
    add(FleetOf::recorder_interval, run.interval_ms, question_.labels);
  }

  void file() {
    if (!question_.now) return;
    add(FleetOf::database_size, context_.file.bytes, question_.labels);
    if (context_.file.max_bytes > 0) add(FleetOf::database_most, context_.file.max_bytes, question_.labels);
  }

  Status recorder(const State& state) {
    const StoredRun& of = state.run;
    const std::int64_t at_ms = state.at_ms;
    add(FleetOf::recorder_up, 1, question_.labels);
    run(of);
    add(FleetOf::recorder_last_tick, at_ms, question_.labels);
    file();
    if (means_over(state)) return Done{};
    const std::vector<StoredTick> ticks = TRY(context_.reader.ticks({at_ms - kHourMs, at_ms}));
    std::int64_t late = 0;
    for (const StoredTick& tick : ticks) late += tick.skipped;
    add(FleetOf::recorder_late_ticks, late, question_.labels);
    constexpr double millionths_of_percent = 1e4;
    if (const auto percent = tick_costs(ticks, of.interval_ms).core_percent)
      add(FleetOf::recorder_cpu, std::llround(*percent * millionths_of_percent), question_.labels);
    for (const ProcessUse& process : state.processes) {
      if (process.process->info.key.pid == of.pid)
        add(FleetOf::recorder_resident, process.kib[Metric::rss], question_.labels);
    }
    return Done{};
  }

  const Context& context_;
  const FleetQuery& question_;
  Range since_;  // range of the peaks
  FleetAnswer answer_;
};
}  // namespace

const std::vector<Family>& fleet_families() {
  static const std::vector<Family> families = [] {
    std::vector<Family> all = machine_families();
    for (const std::vector<Family>& more : {category_families(), own_families()})
      all.insert(all.end(), more.begin(), more.end());
    return all;
  }();
  return families;
}

std::string program_of(std::string_view command) {
  std::string program = short_command(std::string(command));
  program.erase(std::min(program.find(' '), program.size()));
  while (program.ends_with(':')) program.pop_back();
  return program;
}

std::size_t family_of(FleetOf of) {
  return fleet_families().size() - own_families().size() + static_cast<std::size_t>(of);
}

std::size_t fleet_rows(const Options& options) {
  if (!options.limit) return kFleetRows;
  return *options.limit == 0 ? kMaxFleetSeries : static_cast<std::size_t>(*options.limit);
}

Result<FleetAnswer> fleet_at(const Context& context, const FleetQuery& question, const FleetLeaks& leaks) {
  Gatherer gatherer(context, question);
  TRY(gatherer.gather(leaks));
  return gatherer.take();
}

FleetAnswer fleet_at_rest(const Context& context, const FleetQuery& question) {
  Gatherer gatherer(context, question);
  gatherer.recorder_at_rest();
  return gatherer.take();
}

}  // namespace memoir::query
