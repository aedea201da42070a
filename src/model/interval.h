#pragma once

// A value over a time. Of a tick it is one value that holds until the next: min, mean, max and last are the same. Of a
// bucket of a rollup the value moved between min and max.
//
// An interval covers [from_ms, until_ms). One with from_ms == until_ms is a point: the last tick of a range or before a
// gap is seen, but holds for no time that we know of. An absent mean is a time at which the subject lived but its
// memory was not known; it is never taken for 0. Of a sum over buckets the mean alone is known.

#include <cstdint>
#include <optional>

namespace memoir {

struct Interval {
  std::int64_t from_ms = 0;
  std::int64_t until_ms = 0;
  std::int64_t covered_ms = 0;  // of that time recorded, and the subject lived
  std::optional<std::int64_t> min;
  std::optional<std::int64_t> mean;  // over the time that it was known
  std::optional<std::int64_t> max;
  std::optional<std::int64_t> last;  // at the end
  // When it was first so low, and so high. Absent: a bucket that does not tell, or the value of a tick.
  std::optional<std::int64_t> min_at_ms = {};
  std::optional<std::int64_t> max_at_ms = {};
  std::optional<double> exact = {};  // how much of the mean was read exactly, 0 to 1; absent: not known

  bool operator==(const Interval&) const = default;
};

// What a tick saw, until the next.
inline Interval constant(std::int64_t from_ms, std::int64_t until_ms, std::optional<std::int64_t> value,
                         std::optional<double> exact = {}) {
  return {from_ms, until_ms, until_ms - from_ms, value, value, value, value, {}, {}, exact};
}

// Within it there was this, for a moment: of an interval that has a value.
inline void touch(Interval& interval, std::int64_t value, std::int64_t at_ms) {
  if (value < *interval.min) {
    interval.min = value;
    interval.min_at_ms = at_ms;
  }
  if (value > *interval.max) {
    interval.max = value;
    interval.max_at_ms = at_ms;
  }
}

// KiB × ms: what was held over it.
inline double held_over(const Interval& interval) {
  return static_cast<double>(interval.mean.value_or(0)) * static_cast<double>(interval.covered_ms);
}

// The part within [from_ms, until_ms]. Of a bucket that part has its share of the time, and the same extremes: nobody
// knows where in it they were.
Interval clipped(const Interval& interval, std::int64_t from_ms, std::int64_t until_ms);

}  // namespace memoir
