#include "store/retention/recorded_past.h"

#include <limits>
#include <random>

#include "support/catch.h"

namespace memoir::test {
namespace {

constexpr std::int64_t kOneHour = 3'600'000;
constexpr std::int64_t kOneDay = 24 * kOneHour;

// Ten ticks, 10 s apart, that start at a wall time and at a time of the recorder's clock.
RecordedSpan span(std::int64_t run_id, std::int64_t first_tick, std::int64_t from_ms, std::int64_t recorded_ms) {
  return {run_id, first_tick, first_tick + 9, from_ms, from_ms + 90'000, recorded_ms + 5'000 + 90'000, recorded_ms};
}

}  // namespace

TEST_CASE("kept blocks and all other blocks cover all time") {
  std::mt19937 engine(3);
  const auto number = [&](std::int64_t from, std::int64_t to) {
    return std::uniform_int_distribution<std::int64_t>(from, to)(engine);
  };
  for (int round = 0; round < 200; ++round) {
    std::vector<BlockSet::Blocks> kept;
    for (std::int64_t i = number(0, 6); i > 0; --i) {
      const std::int64_t first = number(-20, 60);
      kept.emplace_back(first, first + number(0, 9));
    }
    const BlockSet set(kept);
    const auto others = set.others();
    REQUIRE(others.back().second == std::numeric_limits<std::int64_t>::max());
    for (std::int64_t block = -30; block < 80; ++block) {
      const bool wanted =
          std::any_of(kept.begin(), kept.end(), [=](const auto& b) { return b.first <= block && block <= b.second; });
      const bool other = std::any_of(others.begin(), others.end(),
                                     [=](const auto& b) { return b.first <= block && block <= b.second; });
      INFO("block " << block);
      REQUIRE(set.holds(block) == wanted);
      REQUIRE(other == !wanted);
    }
  }
}

TEST_CASE("blocks before the epoch have negative numbers") {
  CHECK(block_of(0, kOneHour) == 0);
  CHECK(block_of(-1, kOneHour) == -1);
  CHECK(block_of(-kOneHour, kOneHour) == -1);
  CHECK(block_of(kOneHour - 1, kOneHour) == 0);
}

TEST_CASE("the recorder's time follows the ticks, however the wall clock is set") {
  // The wall clock goes a day back, then ten years forward; then a boot with a dead clock follows.
  const RecordedPast past({span(1, 1, 100 * kOneDay, 0), span(1, 11, 99 * kOneDay, 100'000),
                           span(2, 21, 3750 * kOneDay, 200'000), span(3, 31, 0, 300'000)});
  CHECK(past.now() == 390'000);
  CHECK(past.at_tick(1, 100 * kOneDay) == 0);
  CHECK(past.at_tick(15, 99 * kOneDay + 40'000) == 140'000);
  CHECK(past.at_tick(25, 3750 * kOneDay + 40'000) == 240'000);
  CHECK(past.at_tick(99, 77) == past.now());
  // An impossible wall time of a tick stays within its stretch.
  CHECK(past.at_tick(25, 0) == 200'000);
  CHECK(past.at_moment(1, 5'000 + 30'000) == 30'000);
  CHECK(past.at_moment(2, 205'000 + 50'000) == 250'000);
  CHECK(past.at_moment(4, 0) == past.now());
}

TEST_CASE("recent data is kept at any wall clock") {
  const RecordedPast past(
      {span(1, 1, 100 * kOneDay, 0), span(1, 11, 3750 * kOneDay, 100'000), span(2, 21, 50 * kOneDay, 200'000)});
  SECTION("all of it") {
    const BlockSet kept = past.blocks_since(0, kOneDay);
    CHECK(kept.holds(100));
    CHECK(kept.holds(3750));
    CHECK(kept.holds(50));
    CHECK_FALSE(kept.holds(200));
    CHECK(kept.first() == 50);
  }
  SECTION("expired ticks with future times are deleted, recent ticks with past times are kept") {
    const BlockSet kept = past.blocks_since(200'000, kOneDay);
    CHECK_FALSE(kept.holds(100));
    CHECK_FALSE(kept.holds(3750));
    CHECK(kept.holds(50));
  }
  SECTION("data from the middle of a stretch on") {
    const auto since = past.since(140'000);
    REQUIRE(since.size() == 2);
    CHECK(since.front().from_ms == 3750 * kOneDay + 40'000);
    CHECK(since.front().recorded_ms == 140'000);
    CHECK(since.front().first_tick_id == 11);
  }
}

TEST_CASE("the values of a last tick are valid into the next block") {
  const RecordedPast past({span(1, 1, 2 * kOneHour - 95'000, 0)});
  CHECK(past.blocks_since(0, kOneHour).holds(2));
}

}  // namespace memoir::test
