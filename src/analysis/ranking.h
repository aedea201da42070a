#pragma once

// What one subject, or a group of subjects, held over a range of time. The store hands out intervals; these fold them
// into the numbers that rows are ranked by. Pure: no clock, no I/O.
//
// Points count in min, max, first and last, and weigh nothing in the mean.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "model/interval.h"

namespace memoir {

struct Summary {
  std::optional<std::int64_t> min;  // min and max are absent too where an interval does not tell its own
  std::optional<double> mean;       // weighted by time; of points alone the plain mean
  std::optional<std::int64_t> max;
  std::int64_t max_at_ms = 0;         // when it first had its maximum,
  std::int64_t max_until_ms = 0;      // and until when it kept it; the same of a bucket that tells no more than when
  std::optional<std::int64_t> first;  // of a bucket its mean
  std::optional<std::int64_t> last;
  std::int64_t last_ms = 0;     // end of the last interval with a value
  std::int64_t covered_ms = 0;  // time with a known value

  std::optional<std::int64_t> growth() const;  // last - first

  bool operator==(const Summary&) const = default;
};

// Folds the intervals of one subject, which come in order of time and do not overlap.
class Fold {
 public:
  void add(const Interval& interval);
  Summary summary() const;

 private:
  Summary summary_;
  long double weighted_ = 0;  // sum of value × ms
  long double points_ = 0;    // sum of the values of points
  std::int64_t point_count_ = 0;
  bool extremes_unknown_ = false;  // of one of the intervals
};

Summary summarise(std::span<const Interval> intervals);

// How much of what was held was read exactly.
class ExactShare {
 public:
  // `held`: KiB × ms; `exact`: how much of it, 0 to 1, absent where that is not known.
  void add(double held, std::optional<double> exact);
  void add(const Interval& interval);

  std::optional<double> percent() const;  // absent where nothing was held, or not known of a part

 private:
  double held_ = 0;
  std::optional<double> exact_ = 0;
};

// Several subjects as one: the sum of what its members hold, at each time (of buckets: BucketSum). Its maximum is the
// largest sum that was there at one time, which the sum of the members' own maxima is not.
struct GroupInterval {
  Interval interval;         // sum of the known ones; absent if none is known
  std::int64_t members = 0;  // that live
  std::int64_t absent = 0;   // of them without a known value

  bool operator==(const GroupInterval&) const = default;
};

class GroupSum {
 public:
  // Intervals of one member are of ticks, and do not overlap; the members may come in any order. `gone`: the member
  // ended at until_ms. It matters only where recording ends: whoever is not gone is still there at that very tick.
  void add(std::int64_t member, const Interval& interval, bool gone = false);

  // In order of time; times at which no member lived are left out. Where a member was lower or higher for a moment
  // (Interval::min_at_ms, max_at_ms), so was the sum.
  void visit(const std::function<void(const GroupInterval&)>& visit);

  Summary summary();

 private:
  // Small: a long range has a million.
  struct Change {
    std::int64_t at_ms;
    std::int64_t member;
    std::int64_t kib;
    bool known;
    bool moment;  // it begins or ends an interval in which the member was lower or higher for a moment
    enum class Kind : std::uint8_t { end, gone, begin, point } kind;
  };
  struct Level;
  struct Moment {
    std::int64_t at_ms;
    std::int64_t beyond_kib;  // of a member, beyond what it held
  };

  void add(std::int64_t at_ms, std::int64_t member, const Interval& interval, Change::Kind kind);
  static Level point_level(std::span<const Change> changes, Level level);

  std::vector<Change> changes_;
  std::vector<Moment> moments_;
};

}  // namespace memoir
