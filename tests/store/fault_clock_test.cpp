// Clock steps and suspended machines: every tick is stored, in the order of recording.

#include <algorithm>

#include "store/events.h"
#include "store_fixture.h"
#include "support/simulation.h"

namespace memoir::test {
namespace {

constexpr Range kAnyTime{0, 4'000'000'000'000};
constexpr std::int64_t kHour = 3'600'000;
constexpr std::int64_t kDay = 24 * kHour;

TEST_CASE("ticks stay complete and in order when the wall clock is set or the machine is suspended") {
  const StoreFixture fixture;
  Simulation simulation({.processes = 20, .changing = 0.3, .births = 0.5});
  const auto writer = fixture.writer();
  must(writer->begin_run(run_info(simulation.boot(), simulation.now())));
  std::vector<Tick> recorded;
  const auto record = [&] {
    for (int i = 0; i < 50; ++i) {
      recorded.push_back(simulation.next());
      must(writer->write(recorded.back()));
      must(writer->maintain());
    }
  };
  record();
  simulation.step_wall(-kDay);
  record();
  simulation.pause(8 * kHour);  // the boot clock includes the suspended time
  record();
  simulation.step_wall(30 * kDay);
  record();
  must(writer->end_run(simulation.now(), "stopped"));

  const auto reader = fixture.reader();
  const auto info = must(reader->info());
  REQUIRE(info.ticks == static_cast<std::int64_t>(recorded.size()));
  for (std::size_t i = 0; i < recorded.size(); ++i) {
    INFO("tick " << i + 1);
    const Snapshot snapshot = must(reader->snapshot(static_cast<std::int64_t>(i) + 1));
    REQUIRE(snapshot.tick.begin == recorded[i].begin);
    REQUIRE(snapshot.machine == recorded[i].machine);
    REQUIRE(snapshot.processes.size() == recorded[i].processes.size());
    for (std::size_t p = 0; p < snapshot.processes.size(); ++p)
      REQUIRE(snapshot.processes[p].sample == recorded[i].processes[p]);
  }
  std::vector<std::string> kinds;
  for (const Event& event : must(load_events(*reader, kAnyTime))) kinds.push_back(event.kind);
  REQUIRE(std::count(kinds.begin(), kinds.end(), "clock-step") == 2);
  const auto last = must(reader->tick_at(recorded.back().begin.wall_ms));
  REQUIRE(last);
  REQUIRE(last->id == info.ticks);
  const Coverage slept = must(reader->coverage({recorded[99].begin.wall_ms, recorded[100].begin.wall_ms}));
  REQUIRE(slept.gaps.size() == 1);
}

}  // namespace
}  // namespace memoir::test
