#pragma once

// The state of the machine at one time: of a tick; or, where the ticks of that time are gone, of the bucket of the
// finest rollup that holds it. Then values are means over the recorded time of the bucket: an absent process counts as
// 0, so that they add up. What only ticks have is in TickState, or nullopt.

#include <fmt/format.h>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "analysis/grouping.h"
#include "analysis/machine_parts.h"
#include "query/history/history.h"
#include "query/report/format.h"
#include "query/state/command.h"
#include "query/state/moment.h"

namespace memoir::query {

// How the values of a process are known: by its sample in a tick, or as means.
struct Sampled {
  std::reference_wrapper<const ProcessState> at;
  std::int64_t family = 0;  // how many processes run its program: as of pss_bounds()
};
struct Averaged {};

struct HeldProcess {
  const StoredProcess* process = nullptr;
  MetricValues kib;  // of a bucket means, without hwm
  std::variant<Averaged, Sampled> known;
};

// The members of a group, as the store keeps it: all of them, also those that were too short-lived to have rollups of
// their own, which are not among the state's processes.
struct GroupState {
  std::string name;
  std::int64_t processes = 0;  // the most at one time
  MetricValues kib;
  std::optional<std::int64_t> inexact = {};  // members whose values are not exact; absent: not known
};

// "mean" of a bucket.
std::string_view source_word(const HeldProcess& process);
// R, S, D, Z …; nullopt of a bucket.
std::optional<char> known_state(const HeldProcess& process);
// '?' of a bucket.
char state_letter(const HeldProcess& process);
// How long before the tick the values were read; nullopt of a bucket, and where none are known.
std::optional<std::int64_t> age_ms(const HeldProcess& process, std::int64_t tick_ms);

// What a state is of.
struct TickState {
  StoredTick tick;
  std::vector<ProcessState> processes;  // sorted by key
};
struct BucketState {
  Tier tier = {};
  Range bucket;                      // [from_ms, to_ms)
  std::vector<StoredProcess> known;  // processes with a row in it, sorted by it
};

struct State {
  State() = default;
  State(State&&) = default;  // the processes held point into it
  State& operator=(State&&) = default;

  std::int64_t at_ms = 0;  // of the tick; or the last recorded time in the bucket up to the time asked for
  StoredRun run;
  MachineSample machine;
  std::vector<HeldProcess> processes;  // as in `of`
  std::vector<GroupState> categories;
  std::optional<std::vector<CgroupSample>> cgroups;  // by the kernel's count, which only ticks have; sorted by path
  std::variant<TickState, BucketState> of;

  Tier tier() const;
};

// Values that are means over a time.
struct MeansOver {
  Range bucket;            // [from_ms, to_ms)
  std::string_view width;  // "an hour"
};
// nullopt of a tick, whose values are of one time.
std::optional<MeansOver> means_over(const State& state);

bool is_same(const State& a, const State& b);

// The last recorded time up to `at_ms`, which is not before the first tick.
Result<std::int64_t> recorded_at(const Context& context, std::int64_t at_ms);

// At `at_ms`, or the last recorded time before. Absent if there is none. --tier is heeded.
Result<std::optional<State>> load_state(const Context& context, std::int64_t at_ms);

// At --at, or now.
Result<std::optional<State>> load_state(const Context& context);

// Identities, categories or cgroups over a bucket.
Result<std::vector<GroupState>> load_groups(Reader& reader, Tier tier, Range bucket, SubjectKind kind);

// The groups of a state, where they are kept beside their processes; nullopt: they are the sums of those.
Result<std::optional<std::vector<GroupState>>> kept_groups(Reader& reader, const State& state, std::string_view group);

// Since when the PSS of processes has only been estimated, by their rows; none of a bucket.
Result<std::map<std::int64_t, std::int64_t>> estimated_since(Reader& reader, const State& state);

// What uses memory outside of processes; nullopt: only ticks have it, and those of that time are gone.
Result<std::optional<Outside>> outside_of(Reader& reader, const State& state);

// Adds one process of the state.
void add_to(Tally& tally, const HeldProcess& process);

// What processes held that were too short-lived for rollups of their own: what categories hold beyond the processes.
// Absent of ticks, and of a metric that categories do not have.
std::optional<std::int64_t> short_lived_kib(const State& state, Metric metric);

// What is known of all processes of a state.
struct ProcessSums {
  Tally tally;
  std::optional<MappedMemory> mapped;  // nullopt: means, which are not split into what is mapped
  std::int64_t inaccessible = 0;
  std::set<Metric> estimated;  // metrics whose sum has a value in it that is not exact
};
ProcessSums sum_of_processes(const State& state);

// Where the memory of states was. Processes of ticks report what they map, means do not: where one of the states has
// means, all take what is mapped for files, so that they compare.
std::vector<std::optional<MachineParts>> machine_parts_of(const std::vector<const State*>& states);

// That an answer is from a tick well before the time asked for.
std::optional<std::string> stale_warning(const State& state, std::int64_t asked_ms, Zone zone);

// That an answer is from a bucket, with its ends; and from a tick well before the time asked for.
void report_state(const State& state, std::int64_t asked_ms, Zone zone, Report& report);

// An answer from one state: its time, and the coverage from its tick to the time asked for; of a bucket all of it.
Result<Report> begin_report(const Context& context, const State& state, std::string title);

// Calls `at_tick` with the tick of a state, or `otherwise` with the bucket.
template <typename AtTick, typename Otherwise>
auto match(const State& state, AtTick at_tick, Otherwise otherwise) {
  const auto* const tick = std::get_if<TickState>(&state.of);
  return tick != nullptr ? at_tick(*tick) : otherwise(std::get<BucketState>(state.of));
}

// An answer that only ticks have: of the tick at `at_ms`, --at or now. `gone` says that the ticks of a time {} are
// gone.
template <typename Row, typename Answer>
Result<Report> answer_at_tick(const Context& context, std::optional<std::int64_t> at_ms, const Columns<Row>& columns,
                              std::string_view gone, const Answer& answer) {
  const std::optional<State> state = TRY(at_ms ? load_state(context, *at_ms) : load_state(context));
  if (!state) return nothing_recorded(context, columns);
  return match(
      *state, [&](const TickState& tick) -> Result<Report> { return answer(*state, tick); },
      [&](const BucketState&) -> Result<Report> {
        return nothing_recorded(context, columns,
                                fmt::format(fmt::runtime(gone), print_time(state->at_ms, context.options.zone)));
      });
}

}  // namespace memoir::query
