#include "analysis/bucket_sum.h"

#include <algorithm>
#include <cmath>

namespace memoir {

void BucketSum::add_to(Cell& cell, std::int64_t member, const Step& part) {
  cell.many = cell.many || (cell.member && *cell.member != member);
  cell.member = member;
  if (!cell.many) cell.only.add(part);
  const std::int64_t covered_ms = part.covered_ms();
  if (covered_ms == 0) cell.points += *part.value;
  cell.weighted += static_cast<long double>(*part.value) * static_cast<long double>(covered_ms);
  cell.covered_ms += covered_ms;
}

void BucketSum::add(std::int64_t member, const Step& step) {
  if (!step.value) return;
  for (std::int64_t start = step.at_ms - step.at_ms % width_ms_; start < step.until_ms; start += width_ms_) {
    add_to(cells_[start], member, clipped(step, start, start + width_ms_));
  }
}

Step BucketSum::step_of(std::int64_t start_ms, const Cell& cell) const {
  const std::int64_t until_ms = start_ms + width_ms_;
  if (!cell.many) {
    const Summary only = cell.only.summary();
    Spread spread{only.covered_ms, only.min, only.max, only.last};
    if (only.max_at_ms == only.max_until_ms) spread.high_at_ms = only.max_at_ms;
    return {start_ms, until_ms, std::llround(*only.mean), spread};
  }
  // Members that follow each other cover the time of both, those beside each other no more than was recorded.
  const std::int64_t covered_ms = std::min(cell.covered_ms, std::max<std::int64_t>(recorded_(start_ms, until_ms), 1));
  const std::int64_t mean =
      cell.covered_ms > 0 ? std::llround(cell.weighted / static_cast<long double>(covered_ms)) : cell.points;
  return {start_ms, until_ms, mean, Spread{covered_ms, std::nullopt, std::nullopt, std::nullopt}};
}

std::vector<Step> BucketSum::steps() const {
  std::vector<Step> steps;
  steps.reserve(cells_.size());
  for (const auto& [start_ms, cell] : cells_) steps.push_back(step_of(start_ms, cell));
  return steps;
}

Summary BucketSum::summary() const {
  Fold fold;
  for (const Step& step : steps()) fold.add(step);
  return fold.summary();
}

}  // namespace memoir
