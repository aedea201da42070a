#include "analysis/leak/samples.h"
#include "support/catch.h"

using namespace memoir;

namespace {

constexpr std::int64_t kHourMs = 3'600'000;
constexpr std::int64_t kMinuteMs = 60'000;

std::vector<LeakSample> each_minute(int minutes, double value) {
  std::vector<LeakSample> samples;
  for (int at = 0; at < minutes; ++at) samples.push_back({at * kMinuteMs, value + at, std::nullopt, 0});
  return samples;
}

}  // namespace

TEST_CASE("samples fill buckets of five minutes, and of an hour from two days on") {
  const LeakSeries series = roll_up(each_minute(60, 100));
  CHECK(series.width_ms == 5 * kMinuteMs);
  REQUIRE(series.buckets.size() == 12);
  CHECK(series.buckets[1].min == 105);
  CHECK(series.buckets[1].mean == 107);
  CHECK(series.buckets[1].max == 109);
  CHECK(series.buckets[1].covered_ms == 5 * kMinuteMs);

  const LeakSeries days = roll_up(each_minute(50 * 60, 100));
  CHECK(days.width_ms == kHourMs);
  CHECK(days.buckets.size() == 50);
}

TEST_CASE("unrecorded time is a gap, not a constant value") {
  std::vector<LeakSample> samples = each_minute(10, 100);
  samples.push_back({60 * kMinuteMs, 50, std::nullopt, 0});
  const LeakSeries series = roll_up(samples);
  REQUIRE(series.buckets.size() == 3);
  CHECK(series.buckets[2].from_ms == 60 * kMinuteMs);
  std::int64_t covered_ms = 0;
  for (const LeakBucket& bucket : series.buckets) covered_ms += bucket.covered_ms;
  CHECK(covered_ms == 11 * kMinuteMs);
}

TEST_CASE("each run has its own buckets, and sparse readings make buckets wide") {
  std::vector<LeakSample> samples = each_minute(10, 100);
  for (std::size_t at = 7; at < samples.size(); ++at) samples[at].life = 1;
  const LeakSeries series = roll_up(samples);
  REQUIRE(series.buckets.size() == 3);
  CHECK(series.buckets[1].life == 0);
  CHECK(series.buckets[2].life == 1);
  CHECK(series.buckets[1].covered_ms + series.buckets[2].covered_ms == 5 * kMinuteMs);

  std::vector<LeakSample> daily;
  for (int day = 0; day < 9; ++day) daily.push_back({day * 24 * kHourMs, 5.0 + day, std::nullopt, 0});
  CHECK(roll_up(daily).width_ms == 24 * kHourMs);
  CHECK(roll_up(daily).buckets.size() == 9);
  CHECK(roll_up({}).buckets.empty());
}

TEST_CASE("a mean next to the lowest value is kept") {
  const std::vector<LeakSample> samples{{0, 10, 14.0, 0}, {kMinuteMs, 8, 9.0, 0}};
  const LeakSeries series = roll_up(samples);
  REQUIRE(series.buckets.size() == 1);
  CHECK(series.buckets[0].min == 8);
  CHECK(series.buckets[0].mean == 11.5);
  CHECK(series.buckets[0].max == 14);
}
