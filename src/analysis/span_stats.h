#pragma once

// Summarizes a series of intervals over a span of time: means, extremes with their times, and increases of counters.
// Pure.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/interval.h"

namespace memoir {

// Reached within the span; at its start if the start is also its end.
struct Extremum {
  std::int64_t value = 0;
  std::int64_t from_ms = 0;
  std::int64_t until_ms = 0;
};

struct SpanStats {
  std::optional<std::int64_t> mean;  // over the recorded time
  std::optional<Extremum> lowest;    // of equal values the first
  std::optional<Extremum> highest;
  std::int64_t covered_ms = 0;
};

// Covers [from_ms, until_ms). A bucket partly outside counts by the share that is inside, but with its full extremes.
SpanStats span_stats_of(std::span<const Interval> series, std::int64_t from_ms, std::int64_t until_ms);

// Recorded time within the span.
std::int64_t covered_ms_of(std::span<const Interval> series, std::int64_t from_ms, std::int64_t until_ms);

// Returns the mean over all recorded time, given used memory (KiB × ms) in the covered time. An absent process counts
// as 0. A foreign database may have more covered than recorded time; the covered time is then the divisor.
std::int64_t mean_of_held(long double held, std::int64_t covered_ms, std::int64_t recorded_ms);

// A mean under construction, from buckets and parts of them.
class BucketMean {
 public:
  // An interval without a value is unknown time.
  void add(const Interval& interval);

  // Mean over its own covered time, or over a longer time with 0 for the remainder. Without any length, the last value.
  // nullopt if nothing is known.
  std::optional<std::int64_t> mean() const { return over(covered_ms_); }
  std::optional<std::int64_t> over(std::int64_t recorded_ms) const;

  std::int64_t covered_ms() const { return covered_ms_; }

 private:
  long double weighted_ = 0;
  std::int64_t covered_ms_ = 0;
  std::optional<std::int64_t> seen_;
};

// Increase of a counter from bucket to bucket. A counter below its previous value was reset (by a boot) and counts from
// 0.
struct Increase {
  std::int64_t from_ms = 0;  // of the bucket
  std::int64_t until_ms = 0;
  std::int64_t covered_ms = 0;
  std::int64_t by = 0;
};

// The first bucket counts from its lowest value.
std::vector<Increase> increases_of(std::span<const Interval> counter);

}  // namespace memoir
