#pragma once

// Folds the intervals of a subject or a group of subjects into the numbers by which rows are ranked. The store supplies
// the intervals. Pure: no clock, no I/O.
//
// An interval without a length is a point. Points count in min, max, first and last, and have no weight in the mean.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "model/interval.h"

namespace memoir {

struct Summary {
  std::optional<std::int64_t> min;  // nullopt, like max, if an interval has no min or max
  std::optional<double> mean;       // weighted by time; the plain mean if there are only points
  std::optional<std::int64_t> max;
  std::int64_t max_at_ms = 0;         // start of the first time at the maximum
  std::int64_t max_until_ms = 0;      // end of that time; without an exact time, both are the bucket's bounds
  std::optional<std::int64_t> first;  // first value; a bucket's mean
  std::optional<std::int64_t> last;
  std::int64_t last_ms = 0;     // end of the last interval with a value
  std::int64_t covered_ms = 0;  // time with a known value

  std::optional<std::int64_t> growth() const;  // last - first

  bool operator==(const Summary&) const = default;
};

// Folds the intervals of one subject, which must be in time order without overlaps.
class Fold {
 public:
  void add(const Interval& interval);
  Summary summary() const;

 private:
  Summary summary_;
  long double weighted_ = 0;  // sum of value × ms
  long double points_ = 0;    // sum of the values of points
  std::int64_t point_count_ = 0;
  bool extremes_unknown_ = false;  // an interval has no min or max
};

Summary summarise(std::span<const Interval> intervals);

// Share of the used memory that was read exactly.
class ExactShare {
 public:
  // `held` is used memory in KiB × ms; `exact` is the part of it that was read exactly, 0 to 1, nullopt if unknown.
  void add(double held, std::optional<double> exact);
  void add(const Interval& interval);

  std::optional<double> percent() const;  // nullopt if no memory was used, or if a part is unknown

 private:
  double held_ = 0;
  std::optional<double> exact_ = 0;
};

// The sum of several subjects at each time (BucketSum does this for buckets). Its maximum is the largest sum at one
// time, which differs from the sum of the members' own maxima.
struct GroupInterval {
  Interval interval;         // sum of the known values; without values if none is known
  std::int64_t members = 0;  // existing members
  std::int64_t absent = 0;   // existing members without a known value

  bool operator==(const GroupInterval&) const = default;
};

class GroupSum {
 public:
  // Adds an interval of ticks. Intervals of one member must not overlap within a pass; members may come in any order.
  // `gone`: the member ended at until_ms. This matters only where recording ends, because a member that is not gone is
  // still part of the last tick. `pass`: how many times the wall clock had been set back before. Each pass over the
  // same times has its own sums.
  void add(std::int64_t member, const Interval& interval, bool gone = false, std::int32_t pass = 0);

  // Visits the sums pass by pass, in time order, without times that have no member. A member's momentary low or high
  // (Interval::min_at_ms, max_at_ms) also changes the sum at that time.
  void visit(const std::function<void(const GroupInterval&)>& visit);

  Summary summary();

 private:
  // Small, because a long range has a million changes.
  struct Change {
    std::int64_t at_ms;
    std::int64_t member;
    std::int64_t kib;
    bool known;
    bool moment;  // it starts or ends a momentary low or high of the member
    enum class Kind : std::uint8_t { end, gone, begin, point } kind;
    std::int32_t pass;

    auto when() const { return std::pair(pass, at_ms); }
  };
  struct Level;
  struct Moment {
    std::int64_t at_ms;
    std::int64_t beyond_kib;  // difference from the member's own level
    std::int32_t pass;

    auto when() const { return std::pair(pass, at_ms); }
  };
  static Level point_level(std::span<const Change> changes, Level level);

  std::vector<Change> changes_;
  std::vector<Moment> moments_;
};

}  // namespace memoir
