#include "query/state/state.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <string_view>
#include <unordered_map>

#include "analysis/rolled.h"
#include "query/history/history.h"
#include "query/history/tier.h"
#include "query/report/format.h"
#include "query/state/moment.h"
#include "query/state/process_columns.h"
#include "store/names.h"
#include "store/outside.h"
#include "store/states.h"

namespace memoir::query {

namespace {

// Reads one bucket.
class BucketReader {
 public:
  BucketReader(Reader& reader, Tier tier, Range bucket) : reader_(reader), tier_(tier), bucket_(bucket) {}

  // Absent: nothing was recorded in it.
  Result<std::optional<MachineMemory>> machine() {
    std::map<Metric, BucketMean> means;
    TRY(reader_.history(question(SubjectKind::machine, machine_size_metrics()),
                        [&means](const SubjectInterval& of) { means[of.metric].add(of.interval); }));
    const BucketMean& total = means[metric_of(MachineField::mem_total)];
    if (!total.mean()) return std::optional<MachineMemory>();
    recorded_ms_ = total.covered_ms();
    MachineMemory memory;
    for (const MachineField field : kMachineSizes) memory.set(field, means[metric_of(field)].mean());
    return std::optional(memory);
  }

  Result<std::vector<StoredProcess>> processes(State& state) {
    const std::map<std::int64_t, MeanState> held = TRY(read(SubjectKind::process));
    std::vector<StoredProcess> known = TRY(load_processes_by_id(reader_, keys_of(held)));
    for (const StoredProcess& process : known)
      state.processes.push_back({&process, held.at(process.id).values_over(recorded_ms_), Averaged{}});
    return known;
  }

  Result<std::vector<GroupState>> groups(SubjectKind kind) {
    const std::map<std::int64_t, std::string> names = TRY(load_group_names(reader_, kind));
    const std::map<std::int64_t, MeanState> held = TRY(read(kind));
    std::vector<GroupState> groups;
    for (const auto& [id, of] : held) {
      const auto name = names.find(id);
      if (name != names.end()) groups.push_back({name->second, of.processes, of.values_over(recorded_ms_)});
    }
    return groups;
  }

 private:
  HistoryQuestion question(SubjectKind kind, std::vector<Metric> metrics) const {
    return {tier_, kind, {}, bucket_, std::move(metrics)};
  }

  Result<std::map<std::int64_t, MeanState>> read(SubjectKind kind) {
    std::map<std::int64_t, MeanState> all;
    const std::vector<Metric> metrics(kRolledMetrics.begin(), kRolledMetrics.end());
    TRY(reader_.history(question(kind, metrics),
                        [&all](const SubjectInterval& of) { all[of.subject_id].add(of, of.interval); }));
    return all;
  }

  Reader& reader_;
  Tier tier_;
  Range bucket_;
  std::int64_t recorded_ms_ = 0;
};

StoredRun run_at(const std::vector<StoredRun>& runs, std::int64_t at_ms) {
  StoredRun found;
  for (const StoredRun& run : runs) {
    if (run.started_ms <= at_ms) found = run;
  }
  return found;
}

// How many run each program. A fork keeps it, and who runs another shares no anonymous memory.
using Families = std::unordered_map<std::string_view, std::int64_t>;

// Of one that is replaced on disk: as it was called.
std::string_view program_of(const ProcessInfo& info) {
  std::string_view exe = info.exe;
  if (exe.ends_with(kDeletedMark)) exe.remove_suffix(kDeletedMark.size());
  return exe;
}

Families count_families(const std::vector<ProcessState>& processes) {
  Families families;
  for (const ProcessState& process : processes) ++families[program_of(process.process.info)];
  return families;
}

// Whose program may not be seen may be of any family.
std::int64_t family_of(const ProcessInfo& info, const Families& families) {
  if (info.exe.empty()) return 0;
  const auto unseen = families.find(std::string_view());
  return families.at(program_of(info)) + (unseen == families.end() ? 0 : unseen->second);
}

Result<std::optional<State>> load_tick(Reader& reader, std::int64_t at_ms) {
  const std::optional<StoredTick> tick = TRY(reader.tick_at(at_ms));
  if (!tick) return std::optional<State>();
  Snapshot snapshot = TRY(reader.snapshot(tick->id));
  State state;
  state.at_ms = snapshot.tick.begin.wall_ms;
  state.run = std::move(snapshot.run);
  state.machine = std::move(snapshot.machine);
  state.cgroups = std::move(snapshot.cgroups);
  const auto families = count_families(snapshot.processes);
  for (const ProcessState& process : snapshot.processes) {
    state.processes.push_back({&process.process, metric_values(process.sample.memory),
                               Sampled{process, family_of(process.process.info, families)}});
  }
  for (const CategorySample& category : snapshot.categories)
    state.categories.push_back({category.category, category.processes, metric_values(category), category.inexact});
  state.of = TickState{snapshot.tick, std::move(snapshot.processes)};
  return std::optional<State>(std::move(state));
}

// Of the bucket of a tier that holds the last recorded time up to `asked_ms`.
Result<std::optional<State>> load_bucket(const Context& context, Tier tier, std::int64_t asked_ms) {
  const std::int64_t at_ms = TRY(recorded_at(context, asked_ms));
  const Range range = bucket_around(tier, at_ms);
  BucketReader bucket(context.reader, tier, range);
  const std::optional<MachineMemory> machine = TRY(bucket.machine());
  if (!machine) return std::optional<State>();
  State state;
  state.at_ms = at_ms;
  state.run = run_at(context.runs, at_ms);
  state.machine.memory = *machine;
  state.categories = TRY(bucket.groups(SubjectKind::category));
  state.of = BucketState{tier, range, TRY(bucket.processes(state))};
  return std::optional<State>(std::move(state));
}

void add_exactness(const ProcessSample& sample, std::set<Metric>& estimated) {
  for (const Metric metric : kMetrics) {
    if (metric_kib(sample.memory, metric) && !is_exact(metric, sample.source)) estimated.insert(metric);
  }
}

MappedMemory unsplit(const State& state) {
  MappedMemory mapped;
  for (const HeldProcess& process : state.processes)
    mapped.add_unsplit(process.kib[Metric::pss].value_or(0), process.kib[Metric::anon].value_or(0));
  mapped.pss_kib += short_lived_kib(state, Metric::pss).value_or(0);
  return mapped;
}

}  // namespace

Tier State::tier() const {
  const auto* const bucket = std::get_if<BucketState>(&of);
  return bucket == nullptr ? Tier::raw : bucket->tier;
}

std::optional<MeansOver> means_over(const State& state) {
  const auto* const bucket = std::get_if<BucketState>(&state.of);
  return bucket == nullptr ? std::nullopt : std::optional(MeansOver{bucket->bucket, tier_width(bucket->tier)});
}

bool is_same(const State& a, const State& b) {
  if (a.tier() != b.tier()) return false;
  return match(
      a, [&](const TickState& tick) { return tick.tick.id == std::get<TickState>(b.of).tick.id; },
      [&](const BucketState& of) { return of.bucket.from_ms == std::get<BucketState>(b.of).bucket.from_ms; });
}

Result<std::int64_t> recorded_at(const Context& context, std::int64_t at_ms) {
  const Coverage coverage = TRY(context.reader.coverage({context.file.first_tick_ms, at_ms}));
  const bool in_gap = !coverage.gaps.empty() && coverage.gaps.back().to_ms >= at_ms;
  return in_gap ? coverage.gaps.back().from_ms : at_ms;
}

Result<std::optional<State>> load_state(const Context& context, std::int64_t at_ms) {
  if (context.file.ticks == 0 || at_ms < context.file.first_tick_ms) return std::optional<State>();
  const Tier tier = TRY(tier_of(context, {at_ms, at_ms}, Reads::all));
  return holds_groups(tier) ? load_bucket(context, tier, at_ms) : load_tick(context.reader, at_ms);
}

Result<std::optional<State>> load_state(const Context& context) {
  return load_state(context, context.when.at_ms.value_or(context.file.last_tick_ms));
}

Result<std::vector<GroupState>> load_groups(Reader& reader, Tier tier, Range bucket, SubjectKind kind) {
  BucketReader groups(reader, tier, bucket);
  TRY(groups.machine());
  return groups.groups(kind);
}

Result<std::optional<std::vector<GroupState>>> kept_groups(Reader& reader, const State& state, std::string_view group) {
  const auto* const bucket = std::get_if<BucketState>(&state.of);
  const auto kind = group_kind(group);
  if (bucket == nullptr || !kind) return std::optional<std::vector<GroupState>>();
  return std::optional(TRY(load_groups(reader, bucket->tier, bucket->bucket, *kind)));
}

Result<std::map<std::int64_t, std::int64_t>> estimated_since(Reader& reader, const State& state) {
  const auto* const tick = std::get_if<TickState>(&state.of);
  if (tick == nullptr) return std::map<std::int64_t, std::int64_t>();
  return load_estimated_since(reader, tick->tick.id);
}

Result<std::optional<Outside>> outside_of(Reader& reader, const State& state) {
  const auto* const tick = std::get_if<TickState>(&state.of);
  if (tick == nullptr) return std::optional<Outside>();
  return std::optional(TRY(load_outside(reader, tick->tick.id)));
}

std::string_view source_word(const HeldProcess& process) {
  const auto* const sampled = std::get_if<Sampled>(&process.known);
  return sampled == nullptr ? "mean" : to_string(sampled->at.get().sample.source);
}

std::optional<char> known_state(const HeldProcess& process) {
  const auto* const sampled = std::get_if<Sampled>(&process.known);
  return sampled == nullptr ? std::nullopt : std::optional(sampled->at.get().sample.state);
}

char state_letter(const HeldProcess& process) {
  return known_state(process).value_or('?');
}

std::optional<std::int64_t> age_ms(const HeldProcess& process, std::int64_t tick_ms) {
  const auto* const sampled = std::get_if<Sampled>(&process.known);
  return sampled == nullptr ? std::nullopt : age_ms(sampled->at.get(), tick_ms);
}

void add_to(Tally& tally, const HeldProcess& process) {
  const auto* const sampled = std::get_if<Sampled>(&process.known);
  if (sampled != nullptr) return tally.add(sampled->at.get().sample, sampled->family);
  tally.add_mean(process.kib, 1);
}

ProcessSums sum_of_processes(const State& state) {
  ProcessSums sum;
  for (const HeldProcess& process : state.processes) add_to(sum.tally, process);
  const auto* const tick = std::get_if<TickState>(&state.of);
  if (tick == nullptr) return sum;
  sum.mapped.emplace();
  for (const ProcessState& process : tick->processes) {
    const ProcessSample& sample = process.sample;
    sum.mapped->add(sample.memory);
    add_exactness(sample, sum.estimated);
    if (sample.source == Source::inaccessible && sample.state != 'Z') ++sum.inaccessible;
  }
  return sum;
}

std::optional<std::int64_t> short_lived_kib(const State& state, Metric metric) {
  if (!means_over(state) || !info_of(metric).kinds.contains(SubjectKind::category)) return std::nullopt;
  std::int64_t kib = 0;
  for (const GroupState& category : state.categories) kib += category.kib[metric].value_or(0);
  for (const HeldProcess& process : state.processes) kib -= process.kib[metric].value_or(0);
  // Each mean is rounded on its own.
  const auto rounding = static_cast<std::int64_t>(state.processes.size() + state.categories.size());
  return kib > rounding ? kib : 0;
}

std::vector<std::optional<MachineParts>> machine_parts_of(const std::vector<const State*>& states) {
  const bool split = std::ranges::none_of(states, [](const State* state) { return means_over(*state).has_value(); });
  return each_of(states, [split](const State* state) {
    const MappedMemory mapped = split ? sum_of_processes(*state).mapped.value_or(MappedMemory()) : unsplit(*state);
    return machine_parts(state->machine.memory, mapped);
  });
}

std::optional<std::string> stale_warning(const State& state, std::int64_t asked_ms, Zone zone) {
  // Two intervals: one may be late.
  const std::int64_t age = asked_ms - state.at_ms;
  if (age <= 2 * state.run.interval_ms) return std::nullopt;
  return fmt::format("this is {} older than {}: nothing was recorded in between", print_span(age),
                     print_time(asked_ms, zone));
}

void report_state(const State& state, std::int64_t asked_ms, Zone zone, Report& report) {
  report.facts.insert(report.facts.begin(), {"tier", "", Kind::text, std::string(to_string(state.tier()))});
  if (const auto stale = stale_warning(state, asked_ms, zone)) report.warnings.push_back(*stale);
  const auto means = means_over(state);
  if (!means) return;
  report.facts.push_back({"bucket_from_ms", "", Kind::time, means->bucket.from_ms});
  report.facts.push_back({"bucket_until_ms", "", Kind::time, means->bucket.to_ms});
  report.notes.push_back(fmt::format("From rollups of {}: means from {} to {}.", means->width,
                                     print_time(means->bucket.from_ms, zone), print_time(means->bucket.to_ms, zone)));
}

Result<Report> begin_report(const Context& context, const State& state, std::string title) {
  const auto means = means_over(state);
  const Range tick{state.at_ms, std::max(context.when.at_ms.value_or(state.at_ms), state.at_ms)};
  Report report;
  report.at_ms = state.at_ms;
  report.title = std::move(title);
  report.coverage = TRY(context.reader.coverage(means ? means->bucket : tick));
  return report;
}

}  // namespace memoir::query
