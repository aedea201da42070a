#pragma once

// What a series of intervals says of a span of time: means, extremes with when, and how far counters went. Pure.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/interval.h"

namespace memoir {

// Reached within the span; at its begin where that is its end as well.
struct Extremum {
  std::int64_t value = 0;
  std::int64_t from_ms = 0;
  std::int64_t until_ms = 0;
};

struct Figures {
  std::optional<std::int64_t> mean;  // over the recorded time
  std::optional<Extremum> lowest;    // of equal ones the first
  std::optional<Extremum> highest;
  std::int64_t covered_ms = 0;
};

// Over [from_ms, until_ms). A bucket that lies partly outside counts by the share that is inside, and its extremes as a
// whole.
Figures figures_of(std::span<const Interval> series, std::int64_t from_ms, std::int64_t until_ms);

// Time that was recorded within the span.
std::int64_t covered_ms_of(std::span<const Interval> series, std::int64_t from_ms, std::int64_t until_ms);

// The mean over all that was recorded, of what was held (KiB × ms) in the time that is covered: who was not there held
// nothing. Somebody's database may tell of more time than was recorded; that is then all there is.
std::int64_t mean_of_held(long double held, std::int64_t covered_ms, std::int64_t recorded_ms);

// A mean in the making, of buckets and of parts of them.
class BucketMean {
 public:
  // Without a value nothing is known of that time.
  void add(const Interval& interval);

  // Over the time that it covers itself, or over a time of which it held nothing in the rest. Of what was seen for no
  // time the last value. Absent if nothing is known.
  std::optional<std::int64_t> mean() const { return over(covered_ms_); }
  std::optional<std::int64_t> over(std::int64_t recorded_ms) const;

  std::int64_t covered_ms() const { return covered_ms_; }

 private:
  long double weighted_ = 0;
  std::int64_t covered_ms_ = 0;
  std::optional<std::int64_t> seen_;
};

// By how much a counter went up from bucket to bucket. One that is lower than before was started again (by a boot), and
// counts from 0.
struct Increase {
  std::int64_t from_ms = 0;  // of the bucket
  std::int64_t until_ms = 0;
  std::int64_t covered_ms = 0;
  std::int64_t by = 0;
};

// The first bucket of the series begins the count, and has no increase of its own.
std::vector<Increase> increases_of(std::span<const Interval> counter);

}  // namespace memoir
