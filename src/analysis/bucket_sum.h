#pragma once

// Several subjects as one, of which buckets are known: the sum of what they hold, bucket by bucket. Pure.
//
// The mean of a sum is the sum of the means, each weighed by the time that its subject lived. Its extremes are not in
// those of the subjects: who was highest when is gone. They are known where only one subject lives.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "analysis/ranking.h"

namespace memoir {

class BucketSum {
 public:
  // How much of [from_ms, until_ms) was recorded, in ms.
  using Recorded = std::function<std::int64_t(std::int64_t from_ms, std::int64_t until_ms)>;

  BucketSum(std::int64_t width_ms, Recorded recorded) : width_ms_(width_ms), recorded_(std::move(recorded)) {}

  // A bucket, a part of one, or a row of several in which nothing moves. Those of one member in order of time.
  void add(std::int64_t member, const Interval& interval);

  // In order of time; buckets in which no member lived are left out.
  std::vector<Interval> intervals() const;

 private:
  struct Cell {
    long double weighted = 0;     // sum of value × ms
    std::int64_t points = 0;      // sum of the values of those that were seen for no time
    std::int64_t covered_ms = 0;  // sum over the members
    std::optional<std::int64_t> member = {};
    bool many = false;
    Fold only = {};  // of the one member, as long as there is one
  };

  static void add_to(Cell& cell, std::int64_t member, const Interval& part);
  Interval interval_of(std::int64_t start_ms, const Cell& cell) const;

  std::int64_t width_ms_;
  Recorded recorded_;
  std::map<std::int64_t, Cell> cells_;  // by where they begin
};

}  // namespace memoir
