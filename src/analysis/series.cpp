#include "analysis/series.h"

#include <algorithm>
#include <array>
#include <utility>

namespace memoir {

namespace {

constexpr std::int64_t kSecond = 1000;
constexpr std::int64_t kMinute = 60 * kSecond;
constexpr std::int64_t kHour = 60 * kMinute;
constexpr std::int64_t kDay = 24 * kHour;

constexpr std::array kNiceWidths{std::int64_t{100},
                                 std::int64_t{200},
                                 std::int64_t{500},
                                 kSecond,
                                 2 * kSecond,
                                 5 * kSecond,
                                 10 * kSecond,
                                 30 * kSecond,
                                 kMinute,
                                 2 * kMinute,
                                 5 * kMinute,
                                 10 * kMinute,
                                 15 * kMinute,
                                 20 * kMinute,
                                 30 * kMinute,
                                 kHour,
                                 2 * kHour,
                                 3 * kHour,
                                 6 * kHour,
                                 12 * kHour,
                                 kDay,
                                 2 * kDay,
                                 7 * kDay,
                                 14 * kDay,
                                 28 * kDay};

std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  const std::int64_t quotient = a / b;
  return a % b < 0 ? quotient - 1 : quotient;
}

// Index of the bucket that contains `ms`. If the range ends at the edge of a bucket, its last instant belongs to the
// bucket before.
std::int64_t bucket_of(const Grid& grid, std::int64_t ms) {
  const std::int64_t last = grid.to_ms > grid.from_ms ? grid.to_ms - 1 : grid.to_ms;
  return floor_divide(std::clamp(ms, grid.from_ms, last) - grid.origin_ms, grid.width_ms) -
         floor_divide(grid.from_ms - grid.origin_ms, grid.width_ms);
}

void add_to_buckets(const Interval& interval, const Grid& grid, std::vector<GridBucket>& buckets,
                    std::vector<Fold>& folds) {
  const std::int64_t at = std::max(interval.from_ms, grid.from_ms);
  const std::int64_t until = std::min(interval.until_ms, grid.to_ms);
  const bool point = interval.from_ms == interval.until_ms;
  // An interval that only touches the range is ignored.
  if (at > until || (at == until && !point && grid.from_ms != grid.to_ms)) return;
  const auto first = static_cast<std::size_t>(bucket_of(grid, at));
  const auto last = static_cast<std::size_t>(bucket_of(grid, std::max(at, until - 1)));
  for (std::size_t index = first; index <= last; ++index) {
    const GridBucket& bucket = buckets[index];
    folds[index].add(clipped(interval, std::max(at, bucket.from_ms), std::min(until, bucket.until_ms)));
  }
}

double slope(const GridBucket& a, const GridBucket& b) {
  // Uses twice the distance between the midpoints, which is an integer.
  const auto doubled_ms = static_cast<double>((b.from_ms + b.until_ms) - (a.from_ms + a.until_ms));
  return (*b.mean - *a.mean) / (doubled_ms / 2) * static_cast<double>(kDay);
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  if (values.size() % 2 == 1) return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

}  // namespace

std::int64_t bucket_count(const Grid& grid) {
  return bucket_of(grid, grid.to_ms) + 1;
}

std::vector<GridBucket> cut_into_buckets(std::span<const Interval> intervals, const Grid& grid) {
  const auto count = static_cast<std::size_t>(bucket_count(grid));
  std::vector<GridBucket> buckets(count);
  std::int64_t edge = grid.origin_ms + floor_divide(grid.from_ms - grid.origin_ms, grid.width_ms) * grid.width_ms;
  for (GridBucket& bucket : buckets) {
    bucket.from_ms = std::max(edge, grid.from_ms);
    edge += grid.width_ms;
    bucket.until_ms = std::min(edge, grid.to_ms);
  }
  std::vector<Fold> folds(count);
  for (const Interval& interval : intervals) add_to_buckets(interval, grid, buckets, folds);
  for (std::size_t index = 0; index < count; ++index) {
    const Summary summary = folds[index].summary();
    // Time that the clock passed twice is counted once.
    buckets[index].covered_ms =
        std::min(summary.covered_ms, std::max<std::int64_t>(buckets[index].until_ms - buckets[index].from_ms, 0));
    buckets[index].min = summary.min;
    buckets[index].mean = summary.mean;
    buckets[index].max = summary.max;
    if (summary.max) buckets[index].max_at_ms = summary.max_at_ms;
  }
  return buckets;
}

std::int64_t nice_width(std::int64_t span_ms, std::int64_t columns, std::int64_t min_ms) {
  // One bucket more may be needed, because the range may start and end within a bucket.
  const auto fits = [&](std::int64_t width) {
    return width >= min_ms && std::max<std::int64_t>(span_ms - 1, 0) / width + 2 <= columns;
  };
  const auto* const nice = std::ranges::find_if(kNiceWidths, fits);
  if (nice != kNiceWidths.end()) return *nice;
  std::int64_t width = kNiceWidths.back();
  while (!fits(width)) width *= 2;
  return width;
}

std::optional<double> slope_per_day(std::span<const Interval> intervals, std::int64_t from_ms, std::int64_t to_ms,
                                    std::int64_t min_ms) {
  constexpr std::int64_t columns = 100;
  if (to_ms - from_ms < kSlopeSpanMs) return std::nullopt;
  const std::int64_t width = std::max((to_ms - from_ms) / columns, min_ms);
  std::vector<GridBucket> buckets = cut_into_buckets(intervals, {from_ms, to_ms, width, from_ms});
  std::erase_if(buckets, [&](const GridBucket& bucket) { return 2 * bucket.covered_ms < width; });
  if (buckets.size() < kSlopeBuckets) return std::nullopt;
  if (buckets.back().until_ms - buckets.front().from_ms < kSlopeSpanMs) return std::nullopt;
  std::vector<double> slopes;
  slopes.reserve(buckets.size() * (buckets.size() - 1) / 2);
  for (auto a = buckets.begin(); a != buckets.end(); ++a) {
    for (auto b = a + 1; b != buckets.end(); ++b) slopes.push_back(slope(*a, *b));
  }
  return median(std::move(slopes));
}

std::optional<std::int64_t> percentile_over_time(std::span<const Interval> intervals, double percent) {
  struct Held {
    std::int64_t value;
    std::int64_t length_ms;
  };
  std::vector<Held> held;
  std::int64_t whole_ms = 0;
  for (const Interval& interval : intervals) {
    if (!interval.mean) continue;
    held.push_back({*interval.mean, interval.covered_ms});
    whole_ms += held.back().length_ms;
  }
  if (held.empty()) return std::nullopt;
  if (whole_ms == 0) {
    for (Held& one : held) one.length_ms = 1;
    whole_ms = static_cast<std::int64_t>(held.size());
  }
  std::sort(held.begin(), held.end(), [](const Held& a, const Held& b) { return a.value < b.value; });
  const double enough_ms = static_cast<double>(whole_ms) * percent / 100;
  std::int64_t so_far_ms = 0;
  for (const Held& one : held) {
    so_far_ms += one.length_ms;
    if (static_cast<double>(so_far_ms) >= enough_ms) return one.value;
  }
  return held.back().value;
}

}  // namespace memoir
