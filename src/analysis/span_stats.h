#pragma once

// Summarizes a series of intervals over a span of time: means, extremes with their times, and increases of counters.
// Pure.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/interval.h"

namespace memoir {

// An extreme value, reached between from_ms and until_ms; exactly at from_ms if the two are equal.
struct Extremum {
  std::int64_t value = 0;
  std::int64_t from_ms = 0;
  std::int64_t until_ms = 0;
};

struct SpanStats {
  std::optional<std::int64_t> mean;  // over the recorded time
  std::optional<Extremum> lowest;    // the first of equal values
  std::optional<Extremum> highest;
  std::int64_t covered_ms = 0;
};

// Summarizes [from_ms, until_ms). A bucket partly outside counts by the part that is inside, but with its full
// extremes.
SpanStats span_stats_of(std::span<const Interval> series, std::int64_t from_ms, std::int64_t until_ms);

// Returns the recorded time within the span.
std::int64_t covered_ms_of(std::span<const Interval> series, std::int64_t from_ms, std::int64_t until_ms);

// Returns the mean over all recorded time, from used memory (KiB × ms) in the covered time. An absent process counts as
// 0. In a damaged or foreign database the covered time may exceed the recorded time; the covered time is then the
// divisor.
std::int64_t mean_of_held(long double held, std::int64_t covered_ms, std::int64_t recorded_ms);

// Computes a mean from buckets and parts of buckets.
class BucketMean {
 public:
  // Adds an interval. An interval without a value is ignored.
  void add(const Interval& interval);

  // mean() is the mean over the covered time; over() is the mean over a longer time, with 0 for the time that is not
  // covered. Both return the last value if no interval has a length, and nullopt without any value.
  std::optional<std::int64_t> mean() const { return over(covered_ms_); }
  std::optional<std::int64_t> over(std::int64_t recorded_ms) const;

  std::int64_t covered_ms() const { return covered_ms_; }

 private:
  long double weighted_ = 0;
  std::int64_t covered_ms_ = 0;
  std::optional<std::int64_t> seen_;
};

// Increase of a counter from bucket to bucket. A counter below its previous value was reset (by a boot), and counts
// from 0.
struct Increase {
  std::int64_t from_ms = 0;  // start of the bucket
  std::int64_t until_ms = 0;
  std::int64_t covered_ms = 0;
  std::int64_t by = 0;
};

// Returns the increases. The first bucket counts from its lowest value.
std::vector<Increase> increases_of(std::span<const Interval> counter);

}  // namespace memoir
