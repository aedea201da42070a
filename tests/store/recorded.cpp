#include "recorded.h"

#include <algorithm>

#include "support/catch.h"

namespace memoir::test {
namespace {

std::vector<OtherMeminfo> sorted(std::vector<OtherMeminfo> other) {
  std::sort(other.begin(), other.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
  return other;
}

}  // namespace

void check_state(const Snapshot& snapshot, const Recorded& recorded) {
  const Tick& tick = recorded.tick;
  REQUIRE(snapshot.tick.begin == tick.begin);
  REQUIRE(snapshot.tick.end == tick.end);
  REQUIRE(snapshot.tick.keyframe == (tick.keyframe || recorded.first));
  REQUIRE(snapshot.tick.skipped == tick.skipped);
  REQUIRE(snapshot.tick.total == tick.total);
  REQUIRE(snapshot.tick.cost == tick.cost);
  REQUIRE(snapshot.tick.counts == tick.counts);
  REQUIRE(snapshot.tick.reads == tick.reads);
  REQUIRE(snapshot.tick.scans == tick.scans);
  REQUIRE(snapshot.run.boot.boot_id == recorded.boot_id);
  REQUIRE(snapshot.machine.memory == tick.machine.memory);
  REQUIRE(sorted(snapshot.machine.other) == sorted(tick.machine.other));
  REQUIRE(snapshot.categories == tick.categories);
  REQUIRE(snapshot.cgroups == tick.cgroups);
  REQUIRE(snapshot.processes.size() == tick.processes.size());
  for (std::size_t i = 0; i < tick.processes.size(); ++i) {
    const ProcessState& state = snapshot.processes[i];
    REQUIRE_OF_MANY(state.sample == tick.processes[i]);
    REQUIRE_OF_MANY(state.process.boot_id == recorded.boot_id);
  }
}

void check(const Snapshot& snapshot, const Recorded& recorded, const RandomHistory::Infos& infos) {
  check_state(snapshot, recorded);
  for (const ProcessState& state : snapshot.processes)
    REQUIRE(state.process.info == infos.at({recorded.boot_id, state.sample.key}));
}

}  // namespace memoir::test
