#pragma once

// What one subject, or a group of subjects, held over a range of time. The store hands out steps (a value that holds
// from one time until another); these fold them into the numbers that rows are ranked by. Pure: no clock, no I/O.
//
// A step covers [at_ms, until_ms). One with at_ms == until_ms is a point: the last tick of a range or before a gap is
// seen, but holds for no time that we know of. Points count in min, max, first and last, and weigh nothing in the mean.
// An absent value is a time at which the subject lived but its memory was not known. It is never taken for 0.
//
// A step with a spread is a bucket of a rollup: its value is the mean over the bucket, and the spread tells between
// what it moved.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace memoir {

struct Spread {
  std::int64_t covered_ms = 0;      // time of the bucket that was recorded; 0: seen, but for no time that we know of
  std::optional<std::int64_t> low;  // absent where only the members' own are known, and not that of their sum
  std::optional<std::int64_t> high;
  std::optional<std::int64_t> last;            // at its end; where it is absent, the mean is taken for it
  std::optional<std::int64_t> low_at_ms = {};  // when it was first so low, and so high; absent: somewhere in the bucket
  std::optional<std::int64_t> high_at_ms = {};
  std::optional<double> exact = {};  // how much of the mean was read exactly, 0 to 1; absent: not known

  bool operator==(const Spread&) const = default;
};

struct Step {
  std::int64_t at_ms = 0;
  std::int64_t until_ms = 0;
  std::optional<std::int64_t> value;
  std::optional<Spread> spread = {};

  std::int64_t covered_ms() const { return spread ? spread->covered_ms : until_ms - at_ms; }

  bool operator==(const Step&) const = default;
};

// The part of a step within [from_ms, until_ms]. Of a bucket that part has its share of the time, and all of the
// spread: nobody knows where in it the extremes were.
Step clipped(const Step& step, std::int64_t from_ms, std::int64_t until_ms);

struct Summary {
  std::optional<std::int64_t> min;  // min and max are absent too where a step does not tell its own
  std::optional<double> mean;       // weighted by time; of points alone the plain mean
  std::optional<std::int64_t> max;
  std::int64_t max_at_ms = 0;         // when it first had its maximum,
  std::int64_t max_until_ms = 0;      // and until when it kept it; the same of a bucket that tells no more than when
  std::optional<std::int64_t> first;  // of a bucket its mean
  std::optional<std::int64_t> last;
  std::int64_t first_ms = 0;    // begin of the first step with a value
  std::int64_t last_ms = 0;     // end of the last
  std::int64_t covered_ms = 0;  // time with a known value
  std::int64_t absent_ms = 0;   // time without

  std::optional<std::int64_t> growth() const;  // last - first

  bool operator==(const Summary&) const = default;
};

// Folds the steps of one subject, which come in order of time and do not overlap.
class Fold {
 public:
  void add(const Step& step);
  Summary summary() const;

 private:
  Summary summary_;
  long double weighted_ = 0;  // sum of value × ms
  long double points_ = 0;    // sum of the values of points
  std::int64_t point_count_ = 0;
  bool extremes_unknown_ = false;  // of one of the steps
};

Summary summarise(std::span<const Step> steps);

// How much of what was held was read exactly.
class ExactShare {
 public:
  // `held`: KiB × ms; `exact`: how much of it, 0 to 1, absent where that is not known.
  void add(double held, std::optional<double> exact);
  void add(const Step& bucket);  // what is not one is told by its source

  std::optional<double> percent() const;  // absent where nothing was held, or not known of a part
  bool known() const { return exact_.has_value(); }

 private:
  double held_ = 0;
  std::optional<double> exact_ = 0;
};

// Several subjects as one: the sum of what its members hold, at each time (of buckets: BucketSum). Its maximum is the
// largest sum that was there at one time, which the sum of the members' own maxima is not.
struct GroupStep {
  Step step;                 // value: sum of the known ones; absent if none is known
  std::int64_t members = 0;  // that live
  std::int64_t absent = 0;   // of them without a known value

  bool operator==(const GroupStep&) const = default;
};

class GroupSum {
 public:
  // Steps of one member do not overlap; the members may come in any order. `gone`: the member ended at until_ms. It
  // matters only where recording ends: whoever is not gone is still there at that very tick.
  void add(std::int64_t member, const Step& step, bool gone = false);

  // In order of time; times at which no member lived are left out.
  std::vector<GroupStep> steps();

  Summary summary();

 private:
  struct Change {
    std::int64_t at_ms;
    std::int64_t member;
    std::optional<std::int64_t> value;
    enum class Kind : std::uint8_t { end, gone, begin, point } kind;
  };
  struct Level;

  static Level point_level(std::span<const Change> changes, Level level);

  std::vector<Change> changes_;
};

// Largest first, absent last.
bool ranks_before(std::optional<std::int64_t> a, std::optional<std::int64_t> b);
bool ranks_before(std::optional<double> a, std::optional<double> b);

}  // namespace memoir
