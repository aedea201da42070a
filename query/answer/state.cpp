#include "query/answer/state.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "analysis/rolled.h"
#include "query/answer/moment.h"
#include "query/answer/tier.h"
#include "query/answer/tier_steps.h"
#include "query/ask/times.h"
#include "query/report/format.h"

namespace memoir::query {

namespace {

// Reads one bucket.
class BucketReader {
 public:
  BucketReader(Reader& reader, State& state) : reader_(reader), state_(state) {}

  // False: nothing was recorded in it.
  Result<bool> machine() {
    const auto total = static_cast<std::size_t>(MachineField::mem_total);
    std::vector<BucketMean> means(kMachineSizes.size());
    const Status read =
        visit_machine(reader_, state_.tier, *state_.bucket, machine_gauges(),
                      [&](std::size_t metric, const Step& step) { means[metric].add(step.value, step.covered_ms()); });
    if (!read) return read.error();
    if (!means[total].mean()) return false;
    recorded_ms_ = means[total].covered_ms();
    for (std::size_t i = 0; i < means.size(); ++i)
      state_.snapshot.machine.memory.set(kMachineSizes[i], means[i].mean());
    return true;
  }

  Status categories() {
    const std::vector<GroupState> groups = TRY(this->groups(MarkSubject::category));
    for (const GroupState& group : groups) state_.snapshot.categories.push_back(category_of(group));
    return Done{};
  }

  Status processes() {
    std::map<std::int64_t, Held> held = TRY(read(MarkSubject::process));
    std::vector<std::int64_t> ids;
    ids.reserve(held.size());
    for (const auto& [id, of] : held) ids.push_back(id);
    const std::vector<StoredProcess> processes = TRY(reader_.processes_by_id(ids));
    for (const StoredProcess& process : processes) {
      ProcessSample sample;
      sample.key = process.info.key;
      sample.parent_pid = process.info.parent_pid;
      sample.memory = memory_of(held.at(process.id));
      state_.snapshot.processes.push_back({process, sample, state_.bucket->from_ms});
    }
    return Done{};
  }

  Result<std::vector<GroupState>> groups(MarkSubject kind) {
    const std::map<std::int64_t, std::string> names = TRY(reader_.group_names(kind));
    const std::map<std::int64_t, Held> held = TRY(read(kind));
    std::vector<GroupState> groups;
    for (const auto& [id, of] : held) {
      const auto name = names.find(id);
      if (name != names.end()) groups.push_back({name->second, of.processes, memory_of(of)});
    }
    return groups;
  }

 private:
  struct Held {
    std::int64_t processes = 0;
    std::array<BucketMean, kMetrics.size()> means;  // the bucket of the seam comes as two
  };

  Result<std::map<std::int64_t, Held>> read(MarkSubject kind) {
    std::map<std::int64_t, Held> all;
    const Range range = *state_.bucket;
    const Status read = reader_.rollups({state_.tier, kind, std::nullopt, range}, [&](const RollupBucket& bucket) {
      if (bucket.from_ms >= range.to_ms) return;
      Held& held = all[bucket.subject_id];
      held.processes = std::max(held.processes, bucket.processes);
      for (std::size_t i = 0; i < kMetrics.size(); ++i) {
        const Step step = clipped(step_of(bucket, kMetrics[i]), range.from_ms, range.to_ms);
        held.means[i].add(step.value, step.covered_ms());
      }
    });
    if (!read) return read.error();
    return all;
  }

  ProcessMemory memory_of(const Held& held) const {
    MetricMeans means;
    for (std::size_t i = 0; i < means.size(); ++i) means[i] = held.means[i].over(recorded_ms_);
    return memory_of_means(means);
  }

  Reader& reader_;
  State& state_;
  std::int64_t recorded_ms_ = 0;
};

StoredRun run_at(const std::vector<StoredRun>& runs, std::int64_t at_ms) {
  StoredRun found;
  for (const StoredRun& run : runs) {
    if (run.started_ms <= at_ms) found = run;
  }
  return found;
}

Result<std::optional<State>> load_tick(Reader& reader, std::int64_t at_ms) {
  const std::optional<StoredTick> tick = TRY(reader.tick_at(at_ms));
  if (!tick) return std::optional<State>();
  Snapshot snapshot = TRY(reader.snapshot(tick->id));
  return std::optional<State>(State{std::move(snapshot), Tier::raw, std::nullopt});
}

// Of the bucket of a tier that holds the last recorded time up to `asked_ms`.
Result<std::optional<State>> load_bucket(const Context& context, Tier tier, std::int64_t asked_ms) {
  const std::int64_t at_ms = TRY(recorded_at(context, asked_ms));
  State state{{}, tier, bucket_around(tier, at_ms)};
  BucketReader bucket(context.reader, state);
  const bool found = TRY(bucket.machine());
  if (!found) return std::optional<State>();
  state.snapshot.run = run_at(context.runs, at_ms);
  state.snapshot.tick.run_id = state.snapshot.run.id;
  state.snapshot.tick.begin.wall_ms = at_ms;
  TRY(bucket.categories());
  TRY(bucket.processes());
  return std::optional<State>(std::move(state));
}

}  // namespace

Result<std::int64_t> recorded_at(const Context& context, std::int64_t at_ms) {
  const Coverage coverage = TRY(context.reader.coverage({context.file.first_tick_ms, at_ms}));
  const bool in_gap = !coverage.gaps.empty() && coverage.gaps.back().to_ms >= at_ms;
  return in_gap ? coverage.gaps.back().from_ms : at_ms;
}

MachineMetric machine_gauge(MachineField field) {
  return {kMachineFields.at(static_cast<std::size_t>(field)).column, nullptr};
}

std::vector<MachineMetric> machine_gauges() {
  std::vector<MachineMetric> metrics;
  metrics.reserve(kMachineSizes.size());
  for (const MachineField field : kMachineSizes) metrics.push_back(machine_gauge(field));
  return metrics;
}

ProcessMemory memory_of_means(const MetricMeans& means) {
  const auto mean = [&means](Metric metric) { return means[static_cast<std::size_t>(metric)]; };
  ProcessMemory memory;
  memory.set(ProcessField::pss, mean(Metric::pss));
  memory.set(ProcessField::rss, mean(Metric::rss));
  memory.set(ProcessField::anonymous, mean(Metric::anon));
  memory.set(ProcessField::swap, mean(Metric::swap));
  memory.set(ProcessField::swap_pss, mean(Metric::swap_pss));
  if (const auto uss = mean(Metric::uss)) {
    memory.set(ProcessField::private_dirty, *uss);
    memory.set(ProcessField::private_clean, 0);
  }
  return memory;
}

CategorySample category_of(const GroupState& group) {
  const auto kib = [&group](Metric metric) { return metric_kib(group.memory, metric).value_or(0); };
  return {group.name,        group.processes,      0, kib(Metric::rss), kib(Metric::pss), kib(Metric::uss),
          kib(Metric::swap), kib(Metric::swap_pss)};
}

Result<std::optional<State>> load_state(const Context& context, std::int64_t at_ms) {
  if (context.file.ticks == 0 || at_ms < context.file.first_tick_ms) return std::optional<State>();
  const Tier tier = TRY(tier_of(context, {at_ms, at_ms}, Reads::all));
  return tier == Tier::raw ? load_tick(context.reader, at_ms) : load_bucket(context, tier, at_ms);
}

Result<std::optional<State>> load_state(const Context& context) {
  return load_state(context, context.when.at_ms.value_or(context.file.last_tick_ms));
}

Result<std::vector<GroupState>> load_groups(Reader& reader, const State& state, MarkSubject kind) {
  State bucket{{}, state.tier, state.bucket};
  BucketReader groups(reader, bucket);
  TRY(groups.machine());
  return groups.groups(kind);
}

std::optional<MarkSubject> group_kind(std::string_view group) {
  if (group == "category") return MarkSubject::category;
  if (group == "identity") return MarkSubject::identity;
  if (group == "cgroup") return MarkSubject::cgroup;
  return std::nullopt;
}

void add_to(Tally& tally, const State& state, const ProcessSample& sample) {
  if (state.rolled()) {
    tally.add_mean(sample.memory, 1);
  } else {
    tally.add(sample);
  }
}

std::optional<std::int64_t> short_lived_kib(const State& state, Metric metric) {
  if (!state.rolled() || metric == Metric::anon || metric == Metric::hwm) return std::nullopt;
  std::int64_t kib = 0;
  for (const CategorySample& category : state.snapshot.categories) kib += metric_kib(category, metric).value_or(0);
  for (const ProcessState& process : state.snapshot.processes)
    kib -= metric_kib(process.sample.memory, metric).value_or(0);
  // Each mean is rounded on its own.
  const auto rounding = static_cast<std::int64_t>(state.snapshot.processes.size() + state.snapshot.categories.size());
  return kib > rounding ? kib : 0;
}

void tell_state(const State& state, std::int64_t asked_ms, Zone zone, Report& report) {
  report.facts.insert(report.facts.begin(), {"tier", "", Kind::text, std::string(to_string(state.tier))});
  if (const auto stale = stale_warning(state.snapshot, asked_ms, zone)) report.warnings.push_back(*stale);
  if (!state.rolled()) return;
  report.facts.push_back({"bucket_from_ms", "", Kind::time, state.bucket->from_ms});
  report.facts.push_back({"bucket_until_ms", "", Kind::time, state.bucket->to_ms});
  report.notes.push_back(fmt::format("From rollups of {}: means from {} to {}.", tier_width(state.tier),
                                     print_time(state.bucket->from_ms, zone), print_time(state.bucket->to_ms, zone)));
}

Result<Coverage> coverage_of(const Context& context, const State& state) {
  if (state.rolled()) return context.reader.coverage({state.bucket->from_ms, state.bucket->to_ms});
  const std::int64_t tick_ms = state.snapshot.tick.begin.wall_ms;
  return context.reader.coverage({tick_ms, std::max(context.when.at_ms.value_or(tick_ms), tick_ms)});
}

}  // namespace memoir::query
