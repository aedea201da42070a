#include "analysis/bucket_sum.h"

#include <algorithm>
#include <cmath>

#include "base/transformed.h"

namespace memoir {

void BucketSum::add_to(Cell& cell, std::int64_t member, const Interval& part) {
  cell.many = cell.many || (cell.member && *cell.member != member);
  cell.member = member;
  if (!cell.many) cell.only.add(part);
  if (part.covered_ms == 0) cell.points += *part.mean;
  cell.weighted += static_cast<long double>(*part.mean) * static_cast<long double>(part.covered_ms);
  cell.covered_ms += part.covered_ms;
}

void BucketSum::add(std::int64_t member, const Interval& interval) {
  if (!interval.mean) return;
  const std::int64_t first_ms = interval.from_ms - interval.from_ms % width_ms_;
  for (std::int64_t start = first_ms; start < interval.until_ms; start += width_ms_)
    add_to(cells_[start], member, clipped(interval, start, start + width_ms_));
}

Interval BucketSum::interval_of(std::int64_t start_ms, const Cell& cell) const {
  const Interval part = part_of_(start_ms, start_ms + width_ms_);
  if (!cell.many) {
    const Summary only = cell.only.summary();
    Interval interval{part.from_ms, part.until_ms, only.covered_ms, only.min, std::llround(*only.mean),
                      only.max,     only.last};
    if (only.max_at_ms == only.max_until_ms) interval.max_at_ms = only.max_at_ms;
    return interval;
  }
  // Members that ran one after the other cover the time of both. Members that ran at the same time cover at most the
  // recorded time.
  const std::int64_t covered_ms = std::min(cell.covered_ms, std::max<std::int64_t>(part.covered_ms, 1));
  const std::int64_t mean =
      cell.covered_ms > 0 ? std::llround(cell.weighted / static_cast<long double>(covered_ms)) : cell.points;
  return {part.from_ms, part.until_ms, covered_ms, {}, mean, {}, {}};
}

std::vector<Interval> BucketSum::intervals() const {
  return transformed(cells_, [this](const auto& cell) { return interval_of(cell.first, cell.second); });
}

}  // namespace memoir
