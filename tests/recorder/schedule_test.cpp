#include "recorder/schedule.h"

#include "support/catch.h"
#include "support/manual_clock.h"

using namespace memoir;
using test::ManualClock;

namespace {

constexpr std::int64_t kStart = 1'795'000'003'400;  // 3.4 s after a slot of 10 s

}  // namespace

TEST_CASE("slots are aligned to the wall clock and do not drift") {
  ManualClock clock({.wall_ms = kStart, .boot_ms = 50'000});
  Schedule schedule(10'000, clock.now());
  std::int64_t expected = 1'795'000'010'000;
  for (int i = 0; i < 100; ++i, expected += 10'000) {
    const Slot slot = schedule.next(clock.now());
    CHECK(slot.at_ms == expected);
    CHECK(slot.skipped == 0);
    // Each tick starts a little late and takes some time.
    clock.advance(slot.at_ms - clock.now().wall_ms + 3 + i * 7);
  }
}

TEST_CASE("a timer that fires early does not give the same slot twice") {
  ManualClock clock({.wall_ms = kStart, .boot_ms = 50'000});
  Schedule schedule(10'000, clock.now());
  CHECK(schedule.next(clock.now()).at_ms == 1'795'000'010'000);
  clock.advance(6'599);
  CHECK(schedule.next(clock.now()).at_ms == 1'795'000'020'000);
}

TEST_CASE("an overrun continues with the next slot and counts missed ones") {
  ManualClock clock({.wall_ms = kStart, .boot_ms = 50'000});
  Schedule schedule(10'000, clock.now());
  CHECK(schedule.next(clock.now()).at_ms == 1'795'000'010'000);
  clock.advance(6'600 + 25'000);
  const Slot slot = schedule.next(clock.now());
  CHECK(slot.at_ms == 1'795'000'040'000);
  CHECK(slot.skipped == 2);
  CHECK(schedule.next(clock.now()).skipped == 0);
}

TEST_CASE("a step of the wall clock neither stalls the ticks nor counts as missed slots") {
  const std::int64_t step = GENERATE(-3'600'000, -60'000, -7'000, 7'000, 60'000, 3'600'000, 86'400'000'000);
  const std::int64_t interval = GENERATE(100, 1'000, 10'000);
  ManualClock clock({.wall_ms = kStart, .boot_ms = 50'000});
  Schedule schedule(interval, clock.now());
  for (int i = 0; i < 3; ++i) clock.advance(schedule.next(clock.now()).at_ms - clock.now().wall_ms);
  clock.step_wall(step);
  for (int i = 0; i < 3; ++i) {
    INFO("step " << step << ", interval " << interval << ", slot " << i);
    const Slot slot = schedule.next(clock.now());
    CHECK(slot.at_ms > clock.now().wall_ms);
    CHECK(slot.at_ms <= clock.now().wall_ms + interval);
    CHECK(slot.at_ms % interval == 0);
    CHECK(slot.skipped == 0);
    clock.advance(slot.at_ms - clock.now().wall_ms);
  }
}

TEST_CASE("slots missed in an overrun are counted even if the wall clock was stepped during it") {
  ManualClock clock({.wall_ms = kStart, .boot_ms = 50'000});
  Schedule schedule(10'000, clock.now());
  CHECK(schedule.next(clock.now()).at_ms == 1'795'000'010'000);
  clock.advance(6'600 + 25'000);
  clock.step_wall(60'000);
  const Slot slot = schedule.next(clock.now());
  CHECK(slot.at_ms == 1'795'000'100'000);
  CHECK(slot.skipped == 2);
}
