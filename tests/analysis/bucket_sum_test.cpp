#include "analysis/bucket_sum.h"

#include <random>

#include "support/catch.h"

using namespace memoir;

namespace {

constexpr std::int64_t kWidth = 100;

Interval bucket(std::int64_t from, std::int64_t covered, std::int64_t mean, std::int64_t low, std::int64_t high,
                std::int64_t last) {
  return {from, from + kWidth, covered, low, mean, high, last};
}

BucketSum all_recorded() {
  return BucketSum(kWidth, [](std::int64_t from, std::int64_t until) {
    return Interval{from, until, until - from, {}, {}, {}, {}};
  });
}

}  // namespace

TEST_CASE("BucketSum: a single subject keeps its spread") {
  BucketSum sum = all_recorded();
  sum.add(1, bucket(0, 40, 10, 5, 20, 7));
  sum.add(1, bucket(100, 100, 30, 25, 35, 30));
  const auto intervals = sum.intervals();
  REQUIRE(intervals.size() == 2);
  CHECK(intervals[0] == bucket(0, 40, 10, 5, 20, 7));
  CHECK(summarise(intervals).max == 35);
  CHECK(summarise(intervals).min == 5);
  CHECK(summarise(intervals).max_at_ms == 100);
  CHECK(summarise(intervals).last == 30);
}

TEST_CASE("BucketSum: means add up, and the extremes of a sum are unknown") {
  BucketSum sum = all_recorded();
  sum.add(1, bucket(0, 100, 10, 5, 20, 7));
  sum.add(2, bucket(0, 100, 30, 0, 60, 0));
  const auto intervals = sum.intervals();
  REQUIRE(intervals.size() == 1);
  CHECK(intervals[0].mean == 40);
  CHECK(intervals[0].covered_ms == 100);
  CHECK_FALSE(intervals[0].min);
  CHECK_FALSE(intervals[0].max);
  CHECK_FALSE(summarise(intervals).max);
  CHECK_FALSE(summarise(intervals).min);
  CHECK(summarise(intervals).mean == 40.0);
}

TEST_CASE("BucketSum: consecutive members cover the time of both, concurrent ones at most the recorded time") {
  BucketSum restart = all_recorded();
  restart.add(1, bucket(0, 40, 10, 10, 10, 10));
  restart.add(2, bucket(0, 60, 20, 20, 20, 20));
  CHECK(restart.intervals()[0].covered_ms == 100);
  CHECK(restart.intervals()[0].mean == 16);

  BucketSum half(kWidth,
                 [](std::int64_t from, std::int64_t until) { return Interval{from, until, 50, {}, {}, {}, {}}; });
  half.add(1, bucket(0, 50, 10, 10, 10, 10));
  half.add(2, bucket(0, 50, 20, 20, 20, 20));
  CHECK(half.intervals()[0].covered_ms == 50);
  CHECK(half.intervals()[0].mean == 30);
}

TEST_CASE("BucketSum: a bucket partly outside the range counts by the part that is inside") {
  BucketSum sum(kWidth, [](std::int64_t from, std::int64_t until) {
    const std::int64_t begin = std::max<std::int64_t>(from, 60);
    const std::int64_t end = std::min<std::int64_t>(until, 130);
    return Interval{begin, end, end - begin, {}, {}, {}, {}};
  });
  for (const std::int64_t member : {1, 2}) {
    sum.add(member, constant(60, 100, 8));
    sum.add(member, constant(100, 130, 4));
  }
  const auto intervals = sum.intervals();
  REQUIRE(intervals.size() == 2);
  CHECK(intervals[0] == Interval{60, 100, 40, {}, 16, {}, {}});
  CHECK(intervals[1] == Interval{100, 130, 30, {}, 8, {}, {}});
}

TEST_CASE("BucketSum: a row of several buckets is in each of them") {
  BucketSum sum = all_recorded();
  sum.add(1, constant(100, 400, 8));
  sum.add(2, bucket(200, 100, 5, 1, 9, 9));
  const auto intervals = sum.intervals();
  REQUIRE(intervals.size() == 3);
  CHECK(intervals[0].mean == 8);
  CHECK(intervals[1].mean == 13);
  CHECK(intervals[2].mean == 8);
  CHECK(intervals[1].from_ms == 200);
}

TEST_CASE("BucketSum: the integral of the sum is that of its members") {
  std::mt19937_64 random(7);
  const auto up_to = [&random](std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(0, most)(random);
  };
  for (int round = 0; round < 100; ++round) {
    BucketSum sum = all_recorded();
    double held = 0;
    for (std::int64_t member = 0; member < 4; ++member) {
      for (std::int64_t from = 0; from < 500; from += kWidth) {
        if (up_to(2) == 0) continue;
        const std::int64_t covered = up_to(kWidth);
        const std::int64_t mean = up_to(1'000'000);
        sum.add(member, bucket(from, covered, mean, mean, mean, mean));
        held += static_cast<double>(mean) * static_cast<double>(covered);
      }
    }
    double total = 0;
    for (const Interval& of : sum.intervals()) {
      REQUIRE_OF_MANY(of.covered_ms <= kWidth);
      total += static_cast<double>(*of.mean) * static_cast<double>(of.covered_ms);
    }
    REQUIRE(total == Approx(held).margin(0.5 * kWidth * 5));
  }
}

TEST_CASE("clipped: a part of a bucket has its share of the time, and all of its spread") {
  const Interval part = clipped(bucket(0, 80, 10, 5, 20, 7), 50, 75);
  CHECK(part == Interval{50, 75, 20, 5, 10, 20, 7});
  CHECK(clipped(constant(0, 100, 10), 50, 200) == constant(50, 100, 10));
}
