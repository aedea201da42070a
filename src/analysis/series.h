#pragma once

// Divides a series into buckets of equal width, and fits a straight line through them. Pure.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/ranking.h"

namespace memoir {

struct GridBucket {
  std::int64_t from_ms = 0;  // [from_ms, until_ms)
  std::int64_t until_ms = 0;
  std::int64_t covered_ms = 0;      // time with a known value; the remainder is a gap
  std::optional<std::int64_t> min;  // nullopt if all of the bucket is a gap
  std::optional<double> mean;
  std::optional<std::int64_t> max;
  std::optional<std::int64_t> max_at_ms = {};  // the first time at the maximum

  bool operator==(const GridBucket&) const = default;
};

struct Grid {
  std::int64_t from_ms = 0;
  std::int64_t to_ms = 0;      // within the last bucket
  std::int64_t width_ms = 1;   // > 0
  std::int64_t origin_ms = 0;  // start of some bucket: local midnight for buckets of days
};

// Returns all buckets of the grid, including empty ones. The first and the last are clipped to the range. The covered
// time of all buckets adds up to the covered time of the intervals within the range.
std::vector<GridBucket> cut_into_buckets(std::span<const Interval> intervals, const Grid& grid);

// Returns the number of buckets of the grid.
std::int64_t bucket_count(const Grid& grid);

// Returns the narrowest round width (… 10 s, 30 s, 1 min, 2 min … 1 d …) of at least `min_ms` with which `columns`
// buckets (2 or more) cover any range of `span_ms`.
std::int64_t nice_width(std::int64_t span_ms, std::int64_t columns, std::int64_t min_ms);

// Growth per day: the median of the slopes between any two buckets (Theil-Sen, which tolerates a quarter of outliers).
// Uses the means of about a hundred buckets, without buckets that are covered by less than half. nullopt if fewer than
// kSlopeBuckets remain, or if they span less than kSlopeSpanMs, because so short a line does not describe a day. No
// bucket is narrower than `min_ms`; if the intervals are buckets themselves, `min_ms` is their width.
inline constexpr std::size_t kSlopeBuckets = 5;
inline constexpr std::int64_t kSlopeSpanMs = 60 * 60 * 1000;
std::optional<double> slope_per_day(std::span<const Interval> intervals, std::int64_t from_ms, std::int64_t to_ms,
                                    std::int64_t min_ms = 1);

// Returns the smallest value that is not exceeded for `percent` of the time with a known value; 50 is the median over
// time. Intervals without a length count only if no interval has a length. A bucket counts with its mean.
std::optional<std::int64_t> percentile_over_time(std::span<const Interval> intervals, double percent);

}  // namespace memoir
