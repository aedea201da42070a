#pragma once

// A series cut into buckets of equal width, and the straight line through them. Pure.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/ranking.h"

namespace memoir {

struct GridBucket {
  std::int64_t from_ms = 0;  // [from_ms, until_ms)
  std::int64_t until_ms = 0;
  std::int64_t covered_ms = 0;      // time of it with a known value; the rest is a gap
  std::optional<std::int64_t> min;  // absent: a gap from end to end
  std::optional<double> mean;
  std::optional<std::int64_t> max;

  bool operator==(const GridBucket&) const = default;
};

struct Grid {
  std::int64_t from_ms = 0;
  std::int64_t to_ms = 0;      // the last bucket holds it too
  std::int64_t width_ms = 1;   // > 0
  std::int64_t origin_ms = 0;  // a time at which a bucket begins: local midnight for buckets of days
};

// All buckets of the grid, empty ones too; the first and the last are cut to the range. The parts make the whole: what
// the buckets cover adds up to what the intervals cover within the range.
std::vector<GridBucket> cut_into_buckets(std::span<const Interval> intervals, const Grid& grid);

// How many buckets that gives.
std::int64_t bucket_count(const Grid& grid);

// The narrowest width that people count in (… 10 s, 30 s, 1 min, 5 min … 1 d …), at least `least_ms`, of which at most
// `columns` (2 or more) hold a range of `span_ms`, wherever it begins.
std::int64_t nice_width(std::int64_t span_ms, std::int64_t columns, std::int64_t least_ms);

// By how much it goes up in a day: the median of the slopes between every two buckets (Theil-Sen, which a third of
// outliers does not turn), over the means of about a hundred buckets that are covered by half or more. Absent if there
// are fewer than kSlopeBuckets of those, or if they span less than kSlopeSpanMs: a line through so little says nothing
// of a day. No bucket is narrower than `least_ms`, which is how wide the intervals are if they are buckets themselves.
inline constexpr std::size_t kSlopeBuckets = 5;
inline constexpr std::int64_t kSlopeSpanMs = 60 * 60 * 1000;
std::optional<double> slope_per_day(std::span<const Interval> intervals, std::int64_t from_ms, std::int64_t to_ms,
                                    std::int64_t least_ms = 1);

// The least value that holds, or is not reached, for `percent` of the time with a known value: 50 is the median over
// time. Intervals without a length count only where none has one. A bucket counts by its mean.
std::optional<std::int64_t> percentile_over_time(std::span<const Interval> intervals, double percent);

}  // namespace memoir
