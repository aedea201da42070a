#include "query/state/state.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <string_view>
#include <unordered_map>

#include "analysis/rolled.h"
#include "query/history/history.h"
#include "query/history/tier.h"
#include "query/state/moment.h"

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

  Status processes(State& state) {
    const std::map<std::int64_t, MeanState> held = TRY(read(SubjectKind::process));
    state.known = TRY(reader_.processes_by_id(keys_of(held)));
    for (const StoredProcess& process : state.known)
      state.processes.push_back({&process, held.at(process.id).values_over(recorded_ms_)});
    return Done{};
  }

  Result<std::vector<GroupState>> groups(SubjectKind kind) {
    const std::map<std::int64_t, std::string> names = TRY(reader_.group_names(kind));
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
  State state;
  state.snapshot = TRY(reader.snapshot(tick->id));
  const auto families = count_families(state.snapshot.processes);
  for (const ProcessState& process : state.snapshot.processes) {
    state.processes.push_back(
        {&process.process, metric_values(process.sample.memory), &process, family_of(process.process.info, families)});
  }
  for (const CategorySample& category : state.snapshot.categories)
    state.categories.push_back({category.category, category.processes, metric_values(category), category.inexact});
  return std::optional<State>(std::move(state));
}

// Of the bucket of a tier that holds the last recorded time up to `asked_ms`.
Result<std::optional<State>> load_bucket(const Context& context, Tier tier, std::int64_t asked_ms) {
  const std::int64_t at_ms = TRY(recorded_at(context, asked_ms));
  State state;
  state.tier = tier;
  state.bucket = bucket_around(tier, at_ms);
  BucketReader bucket(context.reader, tier, *state.bucket);
  const std::optional<MachineMemory> machine = TRY(bucket.machine());
  if (!machine) return std::optional<State>();
  state.snapshot.machine.memory = *machine;
  state.snapshot.run = run_at(context.runs, at_ms);
  state.snapshot.tick.run_id = state.snapshot.run.id;
  state.snapshot.tick.begin.wall_ms = at_ms;
  state.categories = TRY(bucket.groups(SubjectKind::category));
  TRY(bucket.processes(state));
  return std::optional<State>(std::move(state));
}

}  // namespace

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

std::optional<SubjectKind> group_kind(std::string_view group) {
  const auto found = std::ranges::find(kGroupKinds, group, [](SubjectKind kind) { return info_of(kind).name; });
  return found == kGroupKinds.end() ? std::nullopt : std::optional(*found);
}

std::string_view source_word(const HeldProcess& process) {
  return process.tick == nullptr ? "mean" : to_string(process.tick->sample.source);
}

char state_letter(const HeldProcess& process) {
  return process.tick == nullptr ? '?' : process.tick->sample.state;
}

void add_to(Tally& tally, const HeldProcess& process) {
  if (process.tick != nullptr) return tally.add(process.tick->sample, process.family);
  tally.add_mean(process.kib, 1);
}

std::optional<std::int64_t> short_lived_kib(const State& state, Metric metric) {
  if (!state.rolled() || metric == Metric::anon || metric == Metric::hwm) return std::nullopt;
  std::int64_t kib = 0;
  for (const GroupState& category : state.categories) kib += category.kib[metric].value_or(0);
  for (const HeldProcess& process : state.processes) kib -= process.kib[metric].value_or(0);
  // Each mean is rounded on its own.
  const auto rounding = static_cast<std::int64_t>(state.processes.size() + state.categories.size());
  return kib > rounding ? kib : 0;
}

std::optional<MachineParts> machine_parts_of(const State& state, bool split) {
  MappedMemory mapped;
  for (const HeldProcess& process : state.processes) {
    if (split) {
      mapped.add(process.tick->sample.memory);
    } else {
      mapped.add_unsplit(process.kib[Metric::pss].value_or(0), process.kib[Metric::anon].value_or(0));
    }
  }
  mapped.pss_kib += short_lived_kib(state, Metric::pss).value_or(0);
  return machine_parts(state.snapshot.machine.memory, mapped);
}

void report_state(const State& state, std::int64_t asked_ms, Zone zone, Report& report) {
  report.facts.insert(report.facts.begin(), {"tier", "", Kind::text, std::string(to_string(state.tier))});
  if (const auto stale = stale_warning(state.snapshot, asked_ms, zone)) report.warnings.push_back(*stale);
  if (!state.rolled()) return;
  report.facts.push_back({"bucket_from_ms", "", Kind::time, state.bucket->from_ms});
  report.facts.push_back({"bucket_until_ms", "", Kind::time, state.bucket->to_ms});
  report.notes.push_back(fmt::format("From rollups of {}: means from {} to {}.", tier_width(state.tier),
                                     print_time(state.bucket->from_ms, zone), print_time(state.bucket->to_ms, zone)));
}

Result<Report> begin_report(const Context& context, const State& state, std::string title) {
  const std::int64_t tick_ms = state.snapshot.tick.begin.wall_ms;
  Report report;
  report.at_ms = tick_ms;
  report.title = std::move(title);
  report.coverage = TRY(context.reader.coverage(
      state.bucket.value_or(Range{tick_ms, std::max(context.when.at_ms.value_or(tick_ms), tick_ms)})));
  return report;
}

}  // namespace memoir::query
