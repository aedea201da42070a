#pragma once

// The machine's state at one time: of a tick or, if the ticks of that time have expired, of the finest rollup bucket
// that contains it. Values of a bucket are means over its recorded time: an absent process counts as 0, so that they
// add up. Data that only ticks have is nullopt or nullptr.

#include <fmt/format.h>
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

struct ProcessUse {
  const StoredProcess* process = nullptr;
  MetricValues kib;                         // for a bucket: means, without hwm
  const ProcessSample* sample = nullptr;    // sample of a tick; nullptr for a bucket
  std::int64_t family = 0;                  // number of processes that run its program: as in pss_bounds()
  std::optional<std::int64_t> age_ms = {};  // age of its values at the tick; nullopt: never read
};

// A stored group with all its members. Members too short-lived for rollups of their own are not among the state's
// processes.
struct GroupState {
  std::string name;
  std::int64_t processes = 0;  // maximum number at one time
  MetricValues kib;
  std::optional<std::int64_t> inexact = {};  // members with inexact values; nullopt: unknown
};

// Returns whether RSS replaces the PSS; false for a bucket.
bool is_approximate(const ProcessUse& process);
// Returns the source of the PSS; "mean" for a bucket.
std::string_view source_word(const ProcessUse& process);
// Returns R, S, D, Z …; '?' for a bucket.
char state_letter(const ProcessUse& process);

struct TickState {
  StoredTick tick;
  std::vector<ProcessState> processes;  // sorted by key
};
struct BucketState {
  Tier tier = {};
  Range bucket;                           // [from_ms, to_ms)
  std::int64_t recorded_ms = 0;           // recorded time within the bucket
  std::vector<StoredProcess> known = {};  // processes with a row in the bucket, sorted by row
};

struct State {
  State() = default;
  State(State&&) = default;  // `processes` points into `of`
  State& operator=(State&&) = default;

  std::int64_t at_ms = 0;  // time of the tick, or the last recorded time of the bucket up to the requested one
  StoredRun run;
  MachineSample machine;
  std::vector<ProcessUse> processes;  // the processes of `of`, with their memory
  std::vector<GroupState> categories;
  // Usage by the kernel's count, which only ticks have; sorted by path.
  std::optional<std::vector<CgroupSample>> cgroups;
  std::variant<TickState, BucketState> of;

  Tier tier() const;
};

struct MeansOver {
  Range bucket;            // [from_ms, to_ms)
  std::string_view width;  // "an hour"
};
// Returns nullopt for a tick, because its values are from one time.
std::optional<MeansOver> means_over(const State& state);
// Returns nullptr for a bucket.
const StoredTick* tick_of(const State& state);

// Returns the last recorded time up to `at_ms`, which must not be before the first tick.
Result<std::int64_t> recorded_at(const Context& context, std::int64_t at_ms);

// Returns the state at `at_ms`, or at the last recorded time before; nullopt if there is none. If `in` is nullopt,
// --tier applies.
Result<std::optional<State>> load_state(const Context& context, std::int64_t at_ms, std::optional<Tier> in = {});

// Returns the state at --at, or now.
Result<std::optional<State>> load_state(const Context& context);

// Returns the groups of a state that are stored separately; nullopt if they are the sums of its processes.
Result<std::optional<std::vector<GroupState>>> kept_groups(Reader& reader, const State& state, std::string_view group);

// Returns the time since which the PSS of a process has only been estimated, by process row; empty for a bucket.
Result<std::map<std::int64_t, std::int64_t>> estimated_since(Reader& reader, const State& state);

// Returns memory outside of processes; nullopt for a bucket, because only ticks have it.
Result<std::optional<ShmemState>> shmem_state_of(Reader& reader, const State& state);

void add_to(Tally& tally, const ProcessUse& process);

// Returns the memory of processes too short-lived for their own rollups: the memory of all categories less the memory
// of all processes in the state. Returns nullopt for ticks, and for a metric that categories lack.
std::optional<std::int64_t> short_lived_kib(const State& state, Metric metric);

// Known totals of all processes of a state.
struct ProcessSums {
  Tally tally;
  std::optional<MappedMemory> mapped;  // nullopt: means, which are not split into files and shared memory
  std::int64_t inaccessible = 0;
  std::set<Metric> estimated;  // metrics whose sum includes a value that is not exact
};
ProcessSums sum_of_processes(const State& state);

// Returns the machine's parts at several states. Only ticks split mapped memory into files and shared memory. If one of
// the states has means, all mapped memory counts as files in all of them, so that they are comparable.
std::vector<std::optional<MachineParts>> machine_parts_of(const std::vector<const State*>& states);

// Returns a warning if two states are the same.
std::optional<std::string> same_warning(const State& a, const State& b);

// Returns a warning if an answer is from a tick well before the requested time.
std::optional<std::string> stale_warning(const State& state, std::int64_t asked_ms, Zone zone);

// Reports the tier, the ends of a bucket, and stale_warning().
void report_state(const State& state, std::int64_t asked_ms, Zone zone, Report& report);

// Reports the tiers and buckets of a comparison. `short_lived` completes short_lived_note() for data that is in no row.
void report_states(const State& before, const State& after, std::string_view short_lived, Zone zone, Report& report);

// Starts an answer from one state: its time, and the coverage from its tick to the requested time. For a bucket, this
// is the coverage of the bucket.
Result<Report> begin_report(const Context& context, const State& state, std::string title);

// Returns an answer that only ticks have: from the tick at `at_ms`, --at or now. `gone` is the message if the ticks of
// a time {} have expired.
template <typename Row, typename Answer>
Result<Report> answer_at_tick(const Context& context, std::optional<std::int64_t> at_ms, const Columns<Row>& columns,
                              std::string_view gone, const Answer& answer) {
  const std::optional<State> state = TRY(at_ms ? load_state(context, *at_ms) : load_state(context));
  if (!state) return nothing_recorded(context, columns);
  if (const StoredTick* const tick = tick_of(*state)) return answer(*state, *tick);
  return nothing_recorded(context, columns,
                          fmt::format(fmt::runtime(gone), format_time(state->at_ms, context.options.zone)));
}

}  // namespace memoir::query
