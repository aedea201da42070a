#pragma once

// The state of the machine at one time: of a tick; or, where the ticks of that time are gone, of the bucket of the
// finest rollup that holds it. Then values are means over the recorded time of the bucket: who was not there held
// nothing, so that they add up.

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "analysis/grouping.h"
#include "query/answer/command.h"
#include "query/answer/tier_steps.h"

namespace memoir::query {

struct State {
  // Of a bucket: the time of the tick is the last recorded one in it up to the time asked for; samples have the values
  // of kMetrics but hwm, and neither a source nor a state.
  Snapshot snapshot;
  Tier tier = Tier::raw;
  std::optional<Range> bucket;  // [from_ms, to_ms)

  bool rolled() const { return bucket.has_value(); }
};

// The last recorded time up to `at_ms`, which is not before the first tick.
Result<std::int64_t> recorded_at(const Context& context, std::int64_t at_ms);

// What rollups have of the machine beside counters: kMachineSizes, in their order.
MachineMetric machine_gauge(MachineField field);
std::vector<MachineMetric> machine_gauges();

// Memory of which metric_kib makes these values again; of hwm, which rollups do not have, it makes nothing true.
using MetricMeans = std::array<std::optional<std::int64_t>, kMetrics.size()>;
ProcessMemory memory_of_means(const MetricMeans& means);

// At `at_ms`, or the last recorded time before. Absent if there is none. --tier is heeded.
Result<std::optional<State>> load_state(const Context& context, std::int64_t at_ms);

// At --at, or now.
Result<std::optional<State>> load_state(const Context& context);

// Of the members of a group, as the store keeps it: all of them, also those that were too short-lived to have rollups
// of their own, of which a snapshot knows nothing.
struct GroupState {
  std::string name;
  std::int64_t processes = 0;  // the most at one time
  ProcessMemory memory;
};

// What rollups do not know of a category, how many of its processes are not exact, is 0.
CategorySample category_of(const GroupState& group);

// Of a bucket; the groups are identities, categories or cgroups.
Result<std::vector<GroupState>> load_groups(Reader& reader, const State& state, MarkSubject kind);

// The groups of --group that have rollups of their own: identity, category, cgroup.
std::optional<MarkSubject> group_kind(std::string_view group);

// Adds one process of the state.
void add_to(Tally& tally, const State& state, const ProcessSample& sample);

// What processes held that were too short-lived for rollups of their own: what categories hold beyond the processes.
// Absent of ticks, and of a metric that categories do not have.
std::optional<std::int64_t> short_lived_kib(const State& state, Metric metric);

// That an answer is from a bucket, with its ends; and from a tick well before the time asked for.
void tell_state(const State& state, std::int64_t asked_ms, Zone zone, Report& report);

// Of an answer from one state: from its tick to the time asked for; of a bucket all of it.
Result<Coverage> coverage_of(const Context& context, const State& state);

}  // namespace memoir::query
