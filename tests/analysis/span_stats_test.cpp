#include "analysis/span_stats.h"

#include "support/catch.h"

using namespace memoir;

namespace {

Interval bucket(std::int64_t from_ms, std::int64_t until_ms, std::int64_t kib, std::int64_t covered_ms = -1) {
  return {from_ms, until_ms, covered_ms < 0 ? until_ms - from_ms : covered_ms, kib - 5, kib, kib + 5, kib};
}

}  // namespace

TEST_CASE("statistics weigh by recorded time, and extremes have their bucket") {
  const std::vector<Interval> series{bucket(0, 100, 10), bucket(100, 200, 40, 50), bucket(200, 300, 20)};
  const SpanStats all = span_stats_of(series, 0, 300);
  CHECK(all.mean == (10 * 100 + 40 * 50 + 20 * 100) / 250);
  CHECK(all.covered_ms == 250);
  REQUIRE(all.highest.has_value());
  CHECK(all.highest->value == 45);
  CHECK(all.highest->from_ms == 100);
  CHECK(all.highest->until_ms == 200);
  CHECK(all.lowest->value == 5);
  CHECK_FALSE(span_stats_of(series, 300, 400).mean.has_value());
  CHECK_FALSE(span_stats_of({}, 0, 400).highest.has_value());
}

TEST_CASE("a bucket that is partly outside counts by its share, so that parts of a span add up to the total") {
  const std::vector<Interval> series{bucket(0, 100, 10), bucket(100, 200, 40, 60), bucket(250, 300, 20)};
  for (std::int64_t cut = 0; cut <= 300; cut += 10) {
    const SpanStats left = span_stats_of(series, 0, cut);
    const SpanStats right = span_stats_of(series, cut, 300);
    CHECK(left.covered_ms + right.covered_ms == 210);
  }
  CHECK(span_stats_of(series, 50, 150).mean == (10 * 50 + 40 * 30) / 80);
}

TEST_CASE("unknown is not 0") {
  std::vector<Interval> series{bucket(0, 100, 10)};
  series.push_back({100, 200, 100, std::nullopt, std::nullopt, std::nullopt, std::nullopt});
  const SpanStats figures = span_stats_of(series, 0, 200);
  CHECK(figures.mean == 10);
  CHECK(figures.lowest->value == 5);
  CHECK(figures.covered_ms == 200);
}

TEST_CASE("a counter counts from the lowest value of its first bucket, across gaps, and starts again after a boot") {
  std::vector<Interval> counter{bucket(0, 100, 7), bucket(100, 200, 9), bucket(300, 400, 9), bucket(400, 500, 2)};
  const auto increases = increases_of(counter);
  REQUIRE(increases.size() == 4);
  CHECK(increases[0].by == counter[0].last.value() - counter[0].min.value());
  CHECK(increases[1].by == 2);
  CHECK(increases[2].by == 0);
  CHECK(increases[2].from_ms == 300);
  CHECK(increases[3].by == 2);
  counter[1].last.reset();
  CHECK(increases_of(counter)[1].by == 2);
  CHECK(increases_of({}).empty());
}

TEST_CASE("a mean counts time beyond the covered time as 0, and over less time stays within the values") {
  BucketMean mean;
  mean.add(bucket(0, 100, 10));
  mean.add(bucket(100, 200, 30));
  CHECK(mean.mean() == 20);
  CHECK(mean.over(400) == 10);
  CHECK(mean.over(1) == 20);
  CHECK(mean.over(0) == 30);  // the last value
}
