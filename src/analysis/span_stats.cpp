#include "analysis/span_stats.h"

#include <algorithm>
#include <cmath>

namespace memoir {

namespace {

// Returns the part of a bucket that is within the span.
double share_inside(const Interval& bucket, std::int64_t from_ms, std::int64_t until_ms) {
  const std::int64_t width = bucket.until_ms - bucket.from_ms;
  const std::int64_t inside = std::min(bucket.until_ms, until_ms) - std::max(bucket.from_ms, from_ms);
  if (inside <= 0 || width <= 0) return 0;
  return static_cast<double>(inside) / static_cast<double>(width);
}

Extremum extremum_of(const Interval& bucket, std::int64_t value, std::optional<std::int64_t> at_ms) {
  return {value, at_ms.value_or(bucket.from_ms), at_ms.value_or(bucket.until_ms)};
}

}  // namespace

SpanStats span_stats_of(std::span<const Interval> series, std::int64_t from_ms, std::int64_t until_ms) {
  SpanStats figures;
  double weighted = 0;
  double weight = 0;
  double covered = 0;
  for (const Interval& bucket : series) {
    const double share = share_inside(bucket, from_ms, until_ms);
    if (share <= 0) continue;
    covered += share * static_cast<double>(bucket.covered_ms);
    if (bucket.mean) {
      // A bucket of one tick has no known length, but it counts.
      const double of_it = std::max(share * static_cast<double>(bucket.covered_ms), 1.0);
      weighted += of_it * static_cast<double>(*bucket.mean);
      weight += of_it;
    }
    if (bucket.max && (!figures.highest || *bucket.max > figures.highest->value)) {
      figures.highest = extremum_of(bucket, *bucket.max, bucket.max_at_ms);
    }
    if (bucket.min && (!figures.lowest || *bucket.min < figures.lowest->value)) {
      figures.lowest = extremum_of(bucket, *bucket.min, bucket.min_at_ms);
    }
  }
  figures.covered_ms = std::llround(covered);
  if (weight > 0) figures.mean = std::llround(weighted / weight);
  return figures;
}

std::int64_t covered_ms_of(std::span<const Interval> series, std::int64_t from_ms, std::int64_t until_ms) {
  return span_stats_of(series, from_ms, until_ms).covered_ms;
}

std::int64_t mean_of_held(long double held, std::int64_t covered_ms, std::int64_t recorded_ms) {
  return std::llround(held / static_cast<long double>(std::max(recorded_ms, covered_ms)));
}

void BucketMean::add(const Interval& interval) {
  if (!interval.mean) return;
  seen_ = interval.mean;
  weighted_ += static_cast<long double>(*interval.mean) * static_cast<long double>(interval.covered_ms);
  covered_ms_ += interval.covered_ms;
}

std::optional<std::int64_t> BucketMean::over(std::int64_t recorded_ms) const {
  if (!seen_ || covered_ms_ == 0 || recorded_ms <= 0) return seen_;
  return mean_of_held(weighted_, covered_ms_, recorded_ms);
}

std::vector<Increase> increases_of(std::span<const Interval> counter) {
  std::vector<Increase> increases;
  std::optional<std::int64_t> before;
  for (const Interval& bucket : counter) {
    if (!bucket.last) continue;
    const std::int64_t start = before ? *before : bucket.min.value_or(*bucket.last);
    const std::int64_t by = *bucket.last >= start ? *bucket.last - start : *bucket.last;
    increases.push_back({bucket.from_ms, bucket.until_ms, bucket.covered_ms, by});
    before = bucket.last;
  }
  return increases;
}

}  // namespace memoir
