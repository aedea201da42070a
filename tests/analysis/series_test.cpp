#include "analysis/series.h"

#include <cmath>
#include <random>

#include "support/catch.h"
#include "ticks.h"

using namespace memoir;
using namespace memoir::test;

namespace {

constexpr std::int64_t kMinute = 60'000;
constexpr std::int64_t kSeriesHour = 60 * kMinute;
constexpr std::int64_t kSeriesDay = 24 * kSeriesHour;

using Intervals = std::vector<Interval>;

Intervals line(std::int64_t from, std::int64_t to, std::int64_t every, double start, double per_day) {
  Intervals intervals;
  for (std::int64_t at = from; at < to; at += every) {
    const double value = start + per_day * static_cast<double>(at - from) / static_cast<double>(kSeriesDay);
    intervals.push_back(constant(at, std::min(at + every, to), static_cast<std::int64_t>(value)));
  }
  return intervals;
}

}  // namespace

TEST_CASE("a value is valid up to the next interval, and gaps stay gaps") {
  const Intervals intervals = ticks({{0, 25, 10}, {25, 30, 40}, {50, 60, 8}});
  const std::vector<GridBucket> buckets = cut_into_buckets(intervals, {0, 60, 10, 0});
  REQUIRE(buckets.size() == 6);
  CHECK(buckets[0] == GridBucket{0, 10, 10, 10, 10.0, 10, 0});
  CHECK(buckets[2] == GridBucket{20, 30, 10, 10, 25.0, 40, 25});
  CHECK(buckets[3] == GridBucket{30, 40, 0, std::nullopt, std::nullopt, std::nullopt});
  CHECK(buckets[5] == GridBucket{50, 60, 10, 8, 8.0, 8, 50});
}

TEST_CASE("buckets start at round times and are clipped to the range") {
  const std::vector<GridBucket> buckets = cut_into_buckets(ticks({{0, 100, 5}}), {17, 42, 10, 0});
  REQUIRE(buckets.size() == 4);
  CHECK(buckets[0] == GridBucket{17, 20, 3, 5, 5.0, 5, 17});
  CHECK(buckets[1].from_ms == 20);
  CHECK(buckets[3] == GridBucket{40, 42, 2, 5, 5.0, 5, 40});

  const std::vector<GridBucket> shifted = cut_into_buckets(ticks({{0, 100, 5}}), {17, 42, 10, 3});
  CHECK(shifted[0].until_ms == 23);
}

TEST_CASE("the last tick of the range is in the last bucket") {
  const std::vector<GridBucket> buckets = cut_into_buckets(ticks({{0, 20, 5}, {20, 20, 90}}), {0, 20, 10, 0});
  REQUIRE(buckets.size() == 2);
  CHECK(buckets[1] == GridBucket{10, 20, 10, 5, 5.0, 90, 20});
}

TEST_CASE("a range of one instant is one bucket with its value") {
  const std::vector<GridBucket> buckets = cut_into_buckets(ticks({{7, 7, 5}}), {7, 7, 10, 0});
  REQUIRE(buckets.size() == 1);
  CHECK(buckets[0] == GridBucket{7, 7, 0, 5, 5.0, 5, 7});
}

TEST_CASE("intervals before, after and around the range count with the part inside it") {
  const Intervals intervals = ticks({{-50, -10, 1}, {-10, 15, 2}, {90, 120, 3}, {130, 140, 4}});
  const std::vector<GridBucket> buckets = cut_into_buckets(intervals, {0, 100, 50, 0});
  REQUIRE(buckets.size() == 2);
  CHECK(buckets[0] == GridBucket{0, 50, 15, 2, 2.0, 2, 0});
  CHECK(buckets[1] == GridBucket{50, 100, 10, 3, 3.0, 3, 90});
}

TEST_CASE("the width of a bucket is a round time, and the buckets fit") {
  CHECK(nice_width(kSeriesDay, 72, 10'000) == 30 * kMinute);
  CHECK(nice_width(kSeriesDay, 25, 10'000) == kSeriesHour);
  CHECK(nice_width(kSeriesHour, 72, 10'000) == kMinute);
  CHECK(nice_width(10 * kMinute, 72, 10'000) == 10'000);
  CHECK(nice_width(365 * kSeriesDay, 72, 10'000) == 7 * kSeriesDay);
  CHECK(nice_width(2000, 72, 100) == 100);
  CHECK(nice_width(0, 2, 100) == 100);
  for (std::int64_t from = 0; from < kSeriesHour; from += 7 * kMinute) {
    const std::int64_t to = from + 100'000 * kSeriesDay;
    CHECK(bucket_count({from, to, nice_width(to - from, 40, 1), 0}) <= 40);
  }
}

TEST_CASE("the slope is that of the line despite gaps and outliers") {
  Intervals intervals = line(0, kSeriesDay, 10'000, 1'000'000, 86'400);
  CHECK(std::abs(slope_per_day(intervals, 0, kSeriesDay).value() - 86'400) < 87);

  // Six hours are missing, and a cache used a gigabyte for two hours.
  std::erase_if(intervals, [](const Interval& interval) {
    return interval.from_ms > 6 * kSeriesHour && interval.from_ms < 12 * kSeriesHour;
  });
  for (Interval& interval : intervals) {
    if (interval.from_ms > 15 * kSeriesHour && interval.from_ms < 17 * kSeriesHour)
      interval = constant(interval.from_ms, interval.until_ms, *interval.mean + (1 << 20));
  }
  CHECK(std::abs(slope_per_day(intervals, 0, kSeriesDay).value() - 86'400) < 870);

  CHECK(slope_per_day(ticks({{0, kSeriesDay, 77}}), 0, kSeriesDay) == 0.0);
}

TEST_CASE("too few values give no slope") {
  CHECK_FALSE(slope_per_day(line(0, 5 * kMinute, 10'000, 0, 1000), 0, 5 * kMinute).has_value());
  CHECK_FALSE(slope_per_day(line(0, 5 * kMinute, 10'000, 0, 1000), 0, kSeriesDay).has_value());
  CHECK_FALSE(slope_per_day({}, 0, kSeriesDay).has_value());
}

TEST_CASE("property: the buckets' parts add up to the total") {
  std::mt19937 random(7);
  std::uniform_int_distribution<std::int64_t> value(0, 1 << 30);
  std::uniform_int_distribution<std::int64_t> length(0, 400);
  std::uniform_int_distribution<std::int64_t> edge(0, 10'000);
  std::uniform_int_distribution<std::int64_t> width(1, 2'000);
  for (int round = 0; round < 300; ++round) {
    Intervals intervals;
    for (std::int64_t at = -500; at < 11'000;) {
      const std::int64_t end = at + length(random);
      if (value(random) % 4 != 0) {
        intervals.push_back(constant(at, end, value(random) % 5 == 0 ? std::nullopt : std::optional(value(random))));
      }
      at = end + (value(random) % 3 == 0 ? length(random) : 0);
    }
    const std::int64_t a = edge(random);
    const std::int64_t b = edge(random);
    const Grid grid{std::min(a, b), std::max(a, b), width(random), edge(random) - 5'000};

    std::int64_t whole = 0;
    for (const Interval& interval : intervals) {
      const std::int64_t part = std::min(interval.until_ms, grid.to_ms) - std::max(interval.from_ms, grid.from_ms);
      if (interval.mean) whole += std::max<std::int64_t>(part, 0);
    }
    const std::vector<GridBucket> buckets = cut_into_buckets(intervals, grid);
    REQUIRE(static_cast<std::int64_t>(buckets.size()) == bucket_count(grid));
    REQUIRE(buckets.front().from_ms == grid.from_ms);
    REQUIRE(buckets.back().until_ms == grid.to_ms);
    std::int64_t covered = 0;
    for (std::size_t index = 0; index < buckets.size(); ++index) {
      const GridBucket& bucket = buckets[index];
      covered += bucket.covered_ms;
      if (index > 0) REQUIRE(bucket.from_ms == buckets[index - 1].until_ms);
      REQUIRE(bucket.covered_ms <= bucket.until_ms - bucket.from_ms);
      REQUIRE(bucket.min.has_value() == bucket.max.has_value());
      REQUIRE(bucket.min.has_value() == bucket.mean.has_value());
      if (!bucket.min) continue;
      REQUIRE(static_cast<double>(*bucket.min) <= *bucket.mean);
      REQUIRE(*bucket.mean <= static_cast<double>(*bucket.max));
    }
    REQUIRE(covered == whole);
  }
}

TEST_CASE("percentiles are over time, not over intervals") {
  // 90 s at 10, 9 s at 20, 1 s at 1000, and a gap.
  const Intervals intervals =
      ticks({{0, 90'000, 10}, {90'000, 99'000, 20}, {99'000, 100'000, 1000}, {100'000, 900'000, {}}});
  CHECK(percentile_over_time(intervals, 50) == 10);
  CHECK(percentile_over_time(intervals, 90) == 10);
  CHECK(percentile_over_time(intervals, 95) == 20);
  CHECK(percentile_over_time(intervals, 99) == 20);
  CHECK(percentile_over_time(intervals, 100) == 1000);
  CHECK(percentile_over_time(ticks({{5, 5, 7}, {9, 9, 8}}), 50) == 7);
  CHECK_FALSE(percentile_over_time(ticks({{0, 9, {}}}), 50));
}
