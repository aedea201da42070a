#include "store/replay/coverage.h"

#include <algorithm>

#include "random_history.h"
#include "store_fixture.h"

namespace memoir::test {
namespace {

TickStamp mark(std::int64_t at_ms, std::int64_t run = 1, std::int64_t boot = 1, std::string end = "") {
  return {at_ms, at_ms, run, boot, 10'000, 0, std::move(end)};
}

Coverage cover(Range range, const std::vector<TickStamp>& ticks) {
  CoverageBuilder builder(range);
  for (const TickStamp& tick : ticks) builder.add(tick);
  return builder.finish();
}

TEST_CASE("recorded time and gaps add up to the range, however the clocks were set") {
  RandomHistory random(7);
  for (int round = 0; round < 500; ++round) {
    std::vector<TickStamp> ticks;
    TickStamp tick = mark(100'000);
    const auto count = random.number(0, 30);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t step = random.chance(0.8) ? 10'000 : random.number(0, 90'000);
      tick.wall_ms += step + (random.chance(0.1) ? random.number(-60'000, 60'000) : 0);
      tick.boot_ms += step;
      if (random.chance(0.1)) ++tick.run_id, tick.run_end = random.chance(0.5) ? "unclean" : "";
      if (random.chance(0.05)) ++tick.boot_id, tick.boot_ms = 0;
      ticks.push_back(tick);
    }
    const std::int64_t from = random.number(0, 300'000);
    const Coverage coverage = cover({from, from + random.number(0, 300'000)}, ticks);
    std::int64_t total = coverage.recorded_ms;
    std::int64_t end = from;
    for (const Gap& gap : coverage.gaps) {
      REQUIRE(gap.from_ms >= end);
      REQUIRE(gap.to_ms > gap.from_ms);
      end = gap.to_ms;
      total += gap.to_ms - gap.from_ms;
    }
    REQUIRE(total == coverage.asked.to_ms - coverage.asked.from_ms);
  }
}

TEST_CASE("each gap has its reason") {
  const auto reason = [](TickStamp before, TickStamp after) {
    const Coverage coverage = cover({before.wall_ms, after.wall_ms}, {before, after});
    REQUIRE(coverage.gaps.size() == 1);
    return coverage.gaps.front().reason;
  };
  REQUIRE(reason(mark(0, 1, 1, "stopped"), mark(60'000, 2)) == "not running");
  REQUIRE(reason(mark(0, 1, 1, "unclean"), mark(60'000, 2)) == "killed");
  REQUIRE(reason(mark(0, 1, 1, "unclean"), mark(60'000, 2, 2)) == "rebooted");
  REQUIRE(reason(mark(0), mark(60'000)) == "lost");
  TickStamp late = mark(60'000);
  late.skipped = 5;
  REQUIRE(reason(mark(0), late) == "late");
  late.skipped = 4;  // one of the five slots was not missed, but its tick was lost
  REQUIRE(reason(mark(0), late) == "lost");
}

TEST_CASE("before the first tick and after the last nothing is recorded") {
  const Coverage coverage = cover({0, 100'000}, {mark(40'000), mark(50'000)});
  REQUIRE(coverage.recorded_ms == 10'000);
  REQUIRE(coverage.ticks == 2);
  REQUIRE(coverage.runs == 1);
  REQUIRE(coverage.gaps.size() == 2);
  REQUIRE(coverage.gaps[0].reason == "before the first tick");
  REQUIRE(coverage.gaps[0].to_ms == 40'000);
  REQUIRE(coverage.gaps[1].reason == "after the last tick");
  REQUIRE(coverage.gaps[1].from_ms == 50'000);
}

TEST_CASE("no gap starts before a running recorder's next tick is due") {
  REQUIRE(cover({0, 25'000}, {mark(0), mark(10'000)}).gaps.empty());
  REQUIRE(cover({0, 26'001}, {mark(0), mark(10'000)}).gaps.size() == 1);
  REQUIRE(cover({0, 12'000}, {mark(0, 1, 1, "stopped"), mark(10'000, 1, 1, "stopped")}).gaps.size() == 1);
}

TEST_CASE("a tick may be half an interval late and a second more") {
  REQUIRE(longest_step_ms(10'000) == 16'000);
  REQUIRE(longest_step_ms(100) == 200);
  REQUIRE(longest_step_ms(3'600'000) == 5'401'000);
}

TEST_CASE("time that the wall clock skipped is not recorded, and time that really passed is") {
  TickStamp after = mark(10'000);
  after.wall_ms += 3'600'000;
  const Coverage forward = cover({0, after.wall_ms}, {mark(0), after});
  REQUIRE(forward.recorded_ms == 10'000);
  REQUIRE(forward.gaps.size() == 1);
  REQUIRE(forward.gaps[0].reason == "clock set");
  after.wall_ms = 10'000 - 3'600'000;
  REQUIRE(cover({0, 10'000}, {mark(0), after, mark(0)}).recorded_ms == 10'000);
}

}  // namespace
}  // namespace memoir::test
