#pragma once

// Sums several subjects bucket by bucket. Pure.
//
// The mean of the sum is the sum of the means, each weighted by its subject's lifetime. The members' extremes do not
// give the extremes of the sum, because the order of their changes is lost. The extremes of the sum are known only
// where a single member existed.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "analysis/ranking.h"

namespace memoir {

class BucketSum {
 public:
  // Returns the part of a bucket that is within the range, with its recorded time as covered_ms.
  using PartOf = std::function<Interval(std::int64_t from_ms, std::int64_t until_ms)>;

  BucketSum(std::int64_t width_ms, PartOf part_of) : width_ms_(width_ms), part_of_(std::move(part_of)) {}

  // Adds a bucket, a part of one, or several unchanged buckets in one row, within the range. The intervals of each
  // member must be in time order.
  void add(std::int64_t member, const Interval& interval);

  // Returns the sums in time order, without buckets that have no member.
  std::vector<Interval> intervals() const;

 private:
  struct Cell {
    long double weighted = 0;     // sum of value × ms
    std::int64_t points = 0;      // sum of the values of intervals without a length
    std::int64_t covered_ms = 0;  // sum over all members
    std::optional<std::int64_t> member = {};
    bool many = false;
    Fold only = {};  // fold of the member, while there is only one
  };

  static void add_to(Cell& cell, std::int64_t member, const Interval& part);
  Interval interval_of(std::int64_t start_ms, const Cell& cell) const;

  std::int64_t width_ms_;
  PartOf part_of_;
  std::map<std::int64_t, Cell> cells_;  // cells by start time
};

}  // namespace memoir
