#pragma once

// A value over a time. A tick has one value that holds until the next tick: min, mean, max and last are equal. In a
// rollup bucket the value moved between min and max.
//
// An interval covers [from_ms, until_ms). With from_ms == until_ms it is a point of unknown duration: the last tick of
// a range or before a gap. An absent mean means that the subject existed but its memory was unknown; it never counts as
// 0. For a sum over buckets only the mean is known.

#include <cstdint>
#include <optional>

namespace memoir {

struct Interval {
  std::int64_t from_ms = 0;
  std::int64_t until_ms = 0;
  std::int64_t covered_ms = 0;  // part of that time that was recorded while the subject existed
  std::optional<std::int64_t> min;
  std::optional<std::int64_t> mean;  // over the time with a known value
  std::optional<std::int64_t> max;
  std::optional<std::int64_t> last;  // value at the end
  // Time of the first minimum and maximum. nullopt for the value of a tick, and for a bucket without these times.
  std::optional<std::int64_t> min_at_ms = {};
  std::optional<std::int64_t> max_at_ms = {};
  std::optional<double> exact = {};  // share of the mean that was read exactly, 0 to 1; nullopt if unknown

  bool operator==(const Interval&) const = default;
};

// Returns the interval from a tick to the next, during which the tick's value holds.
inline Interval constant(std::int64_t from_ms, std::int64_t until_ms, std::optional<std::int64_t> value,
                         std::optional<double> exact = {}) {
  return {from_ms, until_ms, until_ms - from_ms, value, value, value, value, {}, {}, exact};
}

// Adds a momentary value to an interval that has a value.
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

// Memory used over the interval, in KiB × ms.
inline double held_over(const Interval& interval) {
  return static_cast<double>(interval.mean.value_or(0)) * static_cast<double>(interval.covered_ms);
}

// Returns the part within [from_ms, until_ms]. For a bucket that part has its share of the time and the same extremes,
// at an unknown position.
Interval clipped(const Interval& interval, std::int64_t from_ms, std::int64_t until_ms);

// Ends a bucket with the last tick, after which nothing is recorded: all of its covered time is before.
void end_with(std::int64_t last_tick_ms, Interval& bucket);

}  // namespace memoir
