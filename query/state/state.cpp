#include "query/state/state.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <string_view>
#include <unordered_map>

#include "analysis/span_stats.h"
#include "query/history/history.h"
#include "query/history/tier.h"
#include "query/report/format.h"
#include "query/state/moment.h"
#include "query/state/process_columns.h"
#include "store/names.h"
#include "store/shmem_state.h"
#include "store/states.h"

namespace memoir::query {

namespace {

Result<std::map<std::int64_t, MeanState>> load_means_of(Reader& reader, const BucketState& of, SubjectKind kind) {
  BucketMeans means = TRY(load_means(reader, of.tier, kind, {of.bucket.from_ms}));
  return std::move(means[of.bucket.from_ms]);
}

Result<std::vector<GroupState>> load_group_states(Reader& reader, const BucketState& of, SubjectKind kind) {
  const std::map<std::int64_t, std::string> names = TRY(load_group_names(reader, kind));
  std::vector<GroupState> groups;
  const std::map<std::int64_t, MeanState> means = TRY(load_means_of(reader, of, kind));
  for (const auto& [id, held] : means) {
    const auto name = names.find(id);
    if (name != names.end()) groups.push_back({name->second, held.processes, held.values(of.recorded_ms)});
  }
  return groups;
}

StoredRun run_at(const std::vector<StoredRun>& runs, std::int64_t at_ms) {
  StoredRun found;
  for (const StoredRun& run : runs) {
    if (run.started_ms <= at_ms) found = run;
  }
  return found;
}

// Number of processes per program. A fork keeps the program; processes of two programs share no anonymous memory.
using Families = std::unordered_map<std::string_view, std::int64_t>;

Families count_families(const std::vector<ProcessState>& processes) {
  Families families;
  for (const ProcessState& process : processes) ++families[process.process.info.exe];
  return families;
}

// A process with an unreadable program may belong to any family.
std::int64_t family_of(const ProcessInfo& info, const Families& families) {
  if (info.exe.empty()) return 0;
  const auto unseen = families.find(std::string_view());
  return families.at(info.exe) + (unseen == families.end() ? 0 : unseen->second);
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
    state.processes.push_back({&process.process, metric_values(process.sample.memory), &process.sample,
                               family_of(process.process.info, families),
                               value_age_ms(process.sample, snapshot.tick.begin.boot_ms)});
  }
  for (const CategorySample& category : snapshot.categories)
    state.categories.push_back({category.category, category.processes, metric_values(category), category.inexact});
  state.of = TickState{snapshot.tick, std::move(snapshot.processes)};
  return std::optional<State>(std::move(state));
}

// Reads the bucket of a tier with the last recorded time up to `asked_ms`.
Result<std::optional<State>> load_bucket(const Context& context, Tier tier, std::int64_t asked_ms) {
  const std::int64_t at_ms = TRY(recorded_at(context, asked_ms));
  BucketState of{tier, bucket_around(tier, at_ms)};
  const auto means = TRY(load_means_of(context.reader, of, SubjectKind::machine));
  const MeanState machine = means.empty() ? MeanState() : means.begin()->second;
  const auto total = machine.means.find(metric_of(MachineField::mem_total));
  if (total == machine.means.end() || !total->second.mean()) return std::optional<State>();
  of.recorded_ms = total->second.covered_ms();
  State state;
  state.at_ms = at_ms;
  state.run = run_at(context.runs, at_ms);
  state.machine.memory = machine.machine();
  state.categories = TRY(load_group_states(context.reader, of, SubjectKind::category));
  const auto held = TRY(load_means_of(context.reader, of, SubjectKind::process));
  of.known = TRY(load_processes_by_id(context.reader, keys_of(held)));
  for (const StoredProcess& process : of.known)
    state.processes.push_back({&process, held.at(process.id).values(of.recorded_ms)});
  state.of = std::move(of);
  return std::optional<State>(std::move(state));
}

void add_exactness(const ProcessSample& sample, std::set<Metric>& estimated) {
  for (const Metric metric : kMetrics) {
    if (metric_kib(sample.memory, metric) && !is_exact(metric, sample.source)) estimated.insert(metric);
  }
}

MappedMemory unsplit(const State& state) {
  MappedMemory mapped;
  for (const ProcessUse& process : state.processes)
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

const StoredTick* tick_of(const State& state) {
  const auto* const tick = std::get_if<TickState>(&state.of);
  return tick == nullptr ? nullptr : &tick->tick;
}

Result<std::int64_t> recorded_at(const Context& context, std::int64_t at_ms) {
  const Coverage coverage = TRY(context.reader.coverage({context.file.first_tick_ms, at_ms}));
  const bool in_gap = !coverage.gaps.empty() && coverage.gaps.back().to_ms >= at_ms;
  return in_gap ? coverage.gaps.back().from_ms : at_ms;
}

Result<std::optional<State>> load_state(const Context& context, std::int64_t at_ms, std::optional<Tier> in) {
  if (context.file.ticks == 0 || at_ms < context.file.first_tick_ms) return std::optional<State>();
  const Tier tier = TRY(in ? Result(*in) : tier_of(context, {at_ms, at_ms}, Reads::all));
  return holds_groups(tier) ? load_bucket(context, tier, at_ms) : load_tick(context.reader, at_ms);
}

Result<std::optional<State>> load_state(const Context& context) {
  return load_state(context, context.when.at_ms.value_or(context.file.last_tick_ms));
}

Result<std::optional<std::vector<GroupState>>> kept_groups(Reader& reader, const State& state, std::string_view group) {
  const auto* const bucket = std::get_if<BucketState>(&state.of);
  const auto kind = group_kind(group);
  if (bucket == nullptr || !kind) return std::optional<std::vector<GroupState>>();
  return std::optional(TRY(load_group_states(reader, *bucket, *kind)));
}

Result<std::map<std::int64_t, std::int64_t>> estimated_since(Reader& reader, const State& state) {
  const StoredTick* const tick = tick_of(state);
  return tick == nullptr ? std::map<std::int64_t, std::int64_t>() : load_estimated_since(reader, tick->id);
}

Result<std::optional<ShmemState>> shmem_state_of(Reader& reader, const State& state) {
  const StoredTick* const tick = tick_of(state);
  if (tick == nullptr) return std::optional<ShmemState>();
  return std::optional(TRY(load_shmem_state(reader, tick->id)));
}

bool is_approximate(const ProcessUse& process) {
  return process.sample != nullptr && process.sample->source == Source::approximate;
}

std::string_view source_word(const ProcessUse& process) {
  return process.sample == nullptr ? "mean" : to_string(process.sample->source);
}

char state_letter(const ProcessUse& process) {
  return process.sample == nullptr ? '?' : process.sample->state;
}

void add_to(Tally& tally, const ProcessUse& process) {
  process.sample == nullptr ? tally.add_mean(process.kib, 1) : tally.add(*process.sample, process.family);
}

ProcessSums sum_of_processes(const State& state) {
  ProcessSums sum;
  for (const ProcessUse& process : state.processes) add_to(sum.tally, process);
  if (means_over(state)) return sum;
  sum.mapped.emplace();
  for (const ProcessUse& process : state.processes) {
    const ProcessSample& sample = *process.sample;
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
  for (const ProcessUse& process : state.processes) kib -= process.kib[metric].value_or(0);
  // Each mean is rounded separately.
  const auto rounding = static_cast<std::int64_t>(state.processes.size() + state.categories.size());
  return kib > rounding ? kib : 0;
}

std::vector<std::optional<MachineParts>> machine_parts_of(const std::vector<const State*>& states) {
  const bool split = std::ranges::none_of(states, [](const State* state) { return means_over(*state).has_value(); });
  return transformed(states, [split](const State* state) {
    const MappedMemory mapped = split ? sum_of_processes(*state).mapped.value_or(MappedMemory()) : unsplit(*state);
    return machine_parts(state->machine.memory, mapped);
  });
}

std::optional<std::string> same_warning(const State& a, const State& b) {
  const auto means = means_over(a);
  const bool same = means ? a.tier() == b.tier() && means->bucket.from_ms == means_over(b)->bucket.from_ms
                          : tick_of(b) != nullptr && tick_of(a)->id == tick_of(b)->id;
  if (!same) return std::nullopt;
  return fmt::format("both times are answered from the same {}: there is nothing to compare",
                     means ? "bucket" : "tick");
}

std::optional<std::string> stale_warning(const State& state, std::int64_t asked_ms, Zone zone) {
  // Two intervals, because a tick may be late.
  const std::int64_t age = asked_ms - state.at_ms;
  if (age <= 2 * state.run.interval_ms) return std::nullopt;
  return fmt::format("the data is {} older than {}: nothing was recorded in between", format_span(age),
                     format_time(asked_ms, zone));
}

void report_state(const State& state, std::int64_t asked_ms, Zone zone, Report& report) {
  report.facts.insert(report.facts.begin(), {"tier", "", Kind::text, std::string(to_string(state.tier()))});
  if (const auto stale = stale_warning(state, asked_ms, zone)) report.warnings.push_back(*stale);
  const auto means = means_over(state);
  if (!means) return;
  report.facts.push_back({"bucket_from_ms", "", Kind::time, means->bucket.from_ms});
  report.facts.push_back({"bucket_until_ms", "", Kind::time, means->bucket.to_ms});
  report.notes.push_back(fmt::format("From rollups of {}: means from {} to {}.", means->width,
                                     format_time(means->bucket.from_ms, zone), format_time(means->bucket.to_ms, zone)));
}

void report_states(const State& before, const State& after, std::string_view short_lived, Zone zone, Report& report) {
  const Tier coarser = std::max(before.tier(), after.tier());
  report.facts.insert(report.facts.begin(), {"tier", "", Kind::text, std::string(to_string(coarser))});
  for (const State* state : {&before, &after}) {
    const auto means = means_over(*state);
    if (!means) continue;
    const char* name = state == &before ? "before" : "after";
    report.facts.push_back({fmt::format("bucket_from_ms_{}", name), "", Kind::time, means->bucket.from_ms});
    report.facts.push_back({fmt::format("bucket_until_ms_{}", name), "", Kind::time, means->bucket.to_ms});
    report.notes.push_back(fmt::format("{}: means from {} to {} (rollups of {}).",
                                       state == &before ? "Before" : "After", format_time(means->bucket.from_ms, zone),
                                       format_time(means->bucket.to_ms, zone), means->width));
  }
  if (coarser == Tier::raw) return;
  if (!short_lived.empty()) report.notes.push_back(short_lived_note(short_lived));
  report.notes.emplace_back("Rollups do not distinguish mapped files from shared memory: all of it counts as files.");
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
