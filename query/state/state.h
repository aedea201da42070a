#pragma once

// The state of the machine at one time: of a tick; or, where the ticks of that time are gone, of the bucket of the
// finest rollup that holds it. Then values are means over the recorded time of the bucket: who was not there held
// nothing, so that they add up.

#include <optional>
#include <string>
#include <vector>

#include "analysis/grouping.h"
#include "analysis/machine_parts.h"
#include "query/history/history.h"
#include "query/state/command.h"

namespace memoir::query {

struct HeldProcess {
  const StoredProcess* process = nullptr;
  MetricValues kib;                    // of a bucket means, without hwm
  const ProcessState* tick = nullptr;  // of a tick: all that it saw of it,
  std::int64_t family = 0;             // and how many run its program: as of pss_bounds()
};

// Of the members of a group, as the store keeps it: all of them, also those that were too short-lived to have rollups
// of their own, of which the state's processes know nothing.
struct GroupState {
  std::string name;
  std::int64_t processes = 0;  // the most at one time
  MetricValues kib;
  std::optional<std::int64_t> inexact = {};  // members whose values are not exact; absent: not known
};

// "mean" of a bucket.
std::string_view source_word(const HeldProcess& process);
// '?' of a bucket.
char state_letter(const HeldProcess& process);

struct State {
  State() = default;
  State(State&&) = default;  // the processes held point into it
  State& operator=(State&&) = default;

  // Of a bucket it has means of the machine and neither processes nor groups, and the time of its tick is the last
  // recorded one in the bucket up to the time asked for.
  Snapshot snapshot;
  Tier tier = {};
  std::optional<Range> bucket;         // [from_ms, to_ms)
  std::vector<StoredProcess> known;    // that a bucket knows of
  std::vector<HeldProcess> processes;  // by key; of a bucket by their rows
  std::vector<GroupState> categories;

  bool rolled() const { return bucket.has_value(); }
};

// The last recorded time up to `at_ms`, which is not before the first tick.
Result<std::int64_t> recorded_at(const Context& context, std::int64_t at_ms);

// At `at_ms`, or the last recorded time before. Absent if there is none. --tier is heeded.
Result<std::optional<State>> load_state(const Context& context, std::int64_t at_ms);

// At --at, or now.
Result<std::optional<State>> load_state(const Context& context);

// Of a bucket; the groups are identities, categories or cgroups.
Result<std::vector<GroupState>> load_groups(Reader& reader, Tier tier, Range bucket, SubjectKind kind);

// The groups of --group that have rollups of their own: identity, category, cgroup.
std::optional<SubjectKind> group_kind(std::string_view group);

// Adds one process of the state.
void add_to(Tally& tally, const HeldProcess& process);

// What processes held that were too short-lived for rollups of their own: what categories hold beyond the processes.
// Absent of ticks, and of a metric that categories do not have.
std::optional<std::int64_t> short_lived_kib(const State& state, Metric metric);

// Where its memory was. `split`: as processes tell what they map; rollups do not, and where one of two states that are
// compared has them from those, the other is taken so as well.
std::optional<MachineParts> machine_parts_of(const State& state, bool split);

// That an answer is from a bucket, with its ends; and from a tick well before the time asked for.
void report_state(const State& state, std::int64_t asked_ms, Zone zone, Report& report);

// An answer from one state: its time, and the coverage from its tick to the time asked for; of a bucket all of it.
Result<Report> begin_report(const Context& context, const State& state, std::string title);

}  // namespace memoir::query
