#include "analysis/ranking.h"

#include <array>
#include <map>
#include <random>

#include "support/catch.h"
#include "ticks.h"

using namespace memoir;
using namespace memoir::test;

namespace {

// A random history: ticks in order, with gaps and absent values.
std::vector<Interval> random_ticks(std::mt19937& random, std::int64_t until_ms) {
  std::uniform_int_distribution<std::int64_t> value(0, 1'000'000);
  std::uniform_int_distribution<int> length(1, 50);
  std::uniform_int_distribution<int> kind(0, 9);
  std::vector<Interval> intervals;
  for (std::int64_t at = length(random); at < until_ms;) {
    const std::int64_t end = std::min<std::int64_t>(at + length(random), until_ms);
    const int what = kind(random);
    if (what > 1) intervals.push_back(constant(at, end, what == 2 ? std::nullopt : std::optional(value(random))));
    at = end;
  }
  return intervals;
}

std::vector<GroupInterval> intervals_of(GroupSum& group) {
  std::vector<GroupInterval> intervals;
  group.visit([&intervals](const GroupInterval& of) { intervals.push_back(of); });
  return intervals;
}

}  // namespace

TEST_CASE("a subject's intervals fold into min, time-weighted mean, max and growth") {
  const Summary summary = summarise(ticks({{0, 100, 10}, {100, 400, 20}, {400, 500, 4}}));
  CHECK(summary.min == 4);
  CHECK(summary.max == 20);
  CHECK(summary.mean == 74.0 / 5);
  CHECK(summary.max_at_ms == 100);
  CHECK(summary.max_until_ms == 400);
  CHECK(summary.first == 10);
  CHECK(summary.last == 4);
  CHECK(summary.growth() == -6);
  CHECK(summary.covered_ms == 500);
}

TEST_CASE("time with an absent value does not count, and an absent value is never 0") {
  const Summary summary = summarise(ticks({{0, 100, std::nullopt}, {100, 200, 50}, {200, 700, std::nullopt}}));
  CHECK(summary.min == 50);
  CHECK(summary.mean == 50.0);
  CHECK(summary.covered_ms == 100);

  const Summary none = summarise(ticks({{0, 100, std::nullopt}}));
  CHECK_FALSE(none.min.has_value());
  CHECK_FALSE(none.mean.has_value());
  CHECK_FALSE(none.growth().has_value());
  CHECK(none.covered_ms == 0);
}

TEST_CASE("a maximum that several rows share lasts until the end of the last row") {
  const Summary summary = summarise(ticks({{0, 10, 7}, {10, 20, 7}, {20, 30, 3}, {30, 40, 7}}));
  CHECK(summary.max_at_ms == 0);
  CHECK(summary.max_until_ms == 20);
}

TEST_CASE("the last tick of a range counts, with no weight") {
  const Summary summary = summarise(ticks({{0, 100, 10}, {100, 100, 90}}));
  CHECK(summary.max == 90);
  CHECK(summary.last == 90);
  CHECK(summary.mean == 10.0);
  CHECK(summary.covered_ms == 100);

  const Summary points = summarise(ticks({{5, 5, 10}, {9, 9, 30}}));
  CHECK(points.mean == 20.0);
  CHECK(points.covered_ms == 0);
}

TEST_CASE("sizes of a large machine over a year neither overflow nor lose the mean") {
  const std::int64_t kib = std::int64_t{1} << 40;
  const Summary summary = summarise(ticks({{0, 31'536'000'000'000, kib}, {31'536'000'000'000, 63'072'000'000'000, 0}}));
  CHECK(summary.mean == static_cast<double>(kib) / 2);
}

TEST_CASE("a group's maximum is the maximum of the sum, not the sum of the maxima") {
  GroupSum group;
  group.add(1, constant(0, 100, 10));
  group.add(2, constant(0, 50, 30));
  group.add(2, constant(50, 100, 5));
  group.add(1, constant(100, 200, 40));
  group.add(2, constant(100, 200, 5));
  const Summary summary = group.summary();
  CHECK(summary.max == 45);
  CHECK(summary.max_at_ms == 100);
  CHECK(summary.max_until_ms == 200);
  CHECK(summary.min == 15);
  CHECK(summary.mean == (40.0 * 50 + 15 * 50 + 45 * 100) / 200);
}

TEST_CASE("a sum has continuing members once, even if all intervals end and start at the same time") {
  const std::int64_t kib = std::int64_t{1} << 61;
  GroupSum group;
  for (const std::int64_t member : {1, 2, 3}) {
    group.add(member, constant(0, 100, kib));
    group.add(member, constant(100, 200, member == 1 ? 0 : kib));
  }
  const std::vector<GroupInterval> expected{{constant(0, 100, 3 * kib), 3, 0}, {constant(100, 200, 2 * kib), 3, 0}};
  CHECK(intervals_of(group) == expected);
}

TEST_CASE("a member's brief value counts in the sum only at that time") {
  Interval spiked = constant(0, 100, 10);
  touch(spiked, 50, 30);
  touch(spiked, 20, 40);
  touch(spiked, 3, 60);
  GroupSum group;
  group.add(1, spiked);
  group.add(2, constant(0, 50, 100));
  group.add(2, constant(50, 100, 200));
  const Summary summary = group.summary();
  CHECK(summary.max == 210);
  CHECK(summary.min == 110);
  CHECK(summary.mean == 160);
  GroupSum alone;
  alone.add(1, spiked, true);
  CHECK(alone.summary().max == 50);
  CHECK(alone.summary().max_at_ms == 30);
  CHECK(alone.summary().min == 3);
  CHECK(alone.summary().last == 10);
}

TEST_CASE("of equal maxima of a sum the first is reported, in any order of members") {
  Interval early = constant(0, 100, 10);
  Interval late = early;
  touch(early, 50, 30);
  touch(late, 50, 60);
  for (const bool swapped : {false, true}) {
    GroupSum group;
    group.add(1, swapped ? late : early);
    group.add(2, swapped ? early : late);
    CHECK(group.summary().max == 60);
    CHECK(group.summary().max_at_ms == 30);
  }
}

TEST_CASE("a group keeps unknown values apart from known ones") {
  GroupSum group;
  group.add(1, constant(0, 100, 10));
  group.add(2, constant(0, 200, std::nullopt));
  const std::vector<GroupInterval> expected{{constant(0, 100, 10), 2, 1}, {constant(100, 200, std::nullopt), 1, 1}};
  CHECK(intervals_of(group) == expected);
}

TEST_CASE("unchanged members are still in the sum at the last tick") {
  GroupSum group;
  group.add(1, constant(0, 100, 10));
  group.add(1, constant(100, 100, 15));
  group.add(2, constant(0, 100, 7));
  group.add(3, constant(0, 100, 1000), /*gone=*/true);
  const Summary summary = group.summary();
  CHECK(summary.last == 22);
  CHECK(summary.min == 22);
  CHECK(summary.max == 1017);
}

TEST_CASE("a member that exits as another starts is never counted with it") {
  GroupSum group;
  group.add(1, constant(0, 100, 10));
  group.add(2, constant(100, 200, 10));
  const std::vector<GroupInterval> expected{{constant(0, 200, 10), 1, 0}};
  CHECK(intervals_of(group) == expected);
}

TEST_CASE("property: a group equals the sum of its members at every millisecond") {
  std::mt19937 random(20261120);
  for (int round = 0; round < 50; ++round) {
    constexpr std::int64_t kEnd = 600;
    GroupSum group;
    std::array<std::int64_t, kEnd> sum{};
    std::array<std::int64_t, kEnd> members{};
    std::array<std::int64_t, kEnd> absent{};
    for (std::int64_t member = 0; member < 6; ++member) {
      for (const Interval& of : random_ticks(random, kEnd)) {
        group.add(member, of);
        for (auto ms = static_cast<std::size_t>(of.from_ms); ms < static_cast<std::size_t>(of.until_ms); ++ms) {
          sum[ms] += of.mean.value_or(0);
          ++members[ms];
          absent[ms] += of.mean ? 0 : 1;
        }
      }
    }
    std::int64_t covered = 0;
    std::int64_t known = 0;
    for (const GroupInterval& step : intervals_of(group)) {
      for (auto ms = static_cast<std::size_t>(step.interval.from_ms);
           ms < static_cast<std::size_t>(step.interval.until_ms); ++ms) {
        REQUIRE(step.members == members[ms]);
        REQUIRE(step.absent == absent[ms]);
        if (absent[ms] == members[ms]) {
          REQUIRE_FALSE(step.interval.mean.has_value());
        } else {
          REQUIRE(step.interval.mean == sum[ms]);
          ++known;
        }
        ++covered;
      }
    }
    REQUIRE(covered == std::ranges::count_if(members, [](std::int64_t count) { return count > 0; }));
    const Summary summary = group.summary();
    REQUIRE(*summary.mean >= static_cast<double>(*summary.min));
    REQUIRE(*summary.mean <= static_cast<double>(*summary.max));
    REQUIRE(summary.covered_ms == known);
  }
}
