#pragma once

// One subject's values over time, cut into buckets of 5 minutes. Pure. N is the number of its metrics.
//
// A value is valid from its tick to the next. Minimum and maximum are those of observed values; the mean and the
// covered time count how long each value is valid. A bucket without changes and gaps extends the previous one.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "store/tiers.h"

namespace memoir {

// Pieces are buckets of the finest tier, and do not cross its blocks.
inline constexpr std::int64_t kPieceMs = kRollupTiers.front().width_ms;
inline constexpr std::int64_t kHourMs = kRollupTiers.front().block_ms();
inline constexpr std::int64_t kAllBp = 10'000;

// The value of a metric, and the part of it that was not read exactly.
struct Level {
  std::int64_t value = 0;
  std::int64_t inexact = 0;

  bool operator==(const Level&) const = default;
};

// The values of one metric in a bucket. Sums are in floating point, because a torn file may contain any numbers.
struct Aggregate {
  bool known = false;  // if false, the other fields are invalid
  std::int64_t min = 0;
  std::int64_t max = 0;
  std::int64_t last = 0;
  std::int64_t known_ms = 0;
  double weighted = 0;         // value × ms
  double inexact = 0;          // the part of `weighted` that is not exact
  std::int64_t min_at_ms = 0;  // time of the first minimum and maximum; 0: not kept
  std::int64_t max_at_ms = 0;

  void see(std::int64_t value, std::int64_t at_ms) {
    reach(value, at_ms, value, at_ms);
    last = value;
  }
  // Counts a value that was observed between ticks for the minimum and maximum.
  void touch(std::int64_t value, std::int64_t at_ms) { reach(value, at_ms, value, at_ms); }
  void hold(const Level& level, std::int64_t ms) {
    weighted += static_cast<double>(level.value) * static_cast<double>(ms);
    inexact += static_cast<double>(level.inexact) * static_cast<double>(ms);
    known_ms += ms;
  }
  // Appends later values of the same subject.
  void append(const Aggregate& later) {
    if (!later.known) return;
    reach(later.min, later.min_at_ms, later.max, later.max_at_ms);
    last = later.last;
    known_ms += later.known_ms;
    weighted += later.weighted;
    inexact += later.inexact;
  }
  // Returns the mean over time. If no value lasted for any time, returns the last value.
  std::int64_t mean() const { return known_ms > 0 ? std::llround(weighted / static_cast<double>(known_ms)) : last; }

  // Returns the inexact share in hundredths of a percent; 0 only if all of it was exact.
  std::optional<std::int64_t> inexact_bp() const {
    if (known_ms == 0) return std::nullopt;
    if (inexact <= 0) return 0;
    return std::max<std::int64_t>(std::llround(inexact / weighted * kAllBp), 1);
  }
  void set_inexact_bp(std::optional<std::int64_t> bp) {
    inexact = weighted * static_cast<double>(bp.value_or(0)) / kAllBp;
  }

  bool operator==(const Aggregate&) const = default;

 private:
  void reach(std::int64_t low, std::int64_t low_at_ms, std::int64_t high, std::int64_t high_at_ms) {
    if (!known || low < min) {
      min = low;
      min_at_ms = low_at_ms;
    }
    if (!known || high > max) {
      max = high;
      max_at_ms = high_at_ms;
    }
    known = true;
  }
};

template <std::size_t N>
struct Bucket {
  std::int64_t covered_ms = 0;
  std::int64_t processes = 0;
  std::array<Aggregate, N> values{};

  void append(const Bucket& later) {
    covered_ms += later.covered_ms;
    processes = std::max(processes, later.processes);
    for (std::size_t i = 0; i < N; ++i) values[i].append(later.values[i]);
  }
  // Returns whether no value changed in the bucket.
  bool constant() const {
    return std::all_of(values.begin(), values.end(), [](const Aggregate& v) { return v.min == v.max; });
  }
  // Returns whether `later` has the last values of this bucket all the time, with equal exactness.
  bool goes_on_as(const Bucket& later) const {
    if (!later.constant() || processes != later.processes) return false;
    for (std::size_t i = 0; i < N; ++i) {
      const Aggregate& next = later.values[i];
      if (values[i].known != next.known || values[i].last != next.last || values[i].inexact_bp() != next.inexact_bp())
        return false;
    }
    return true;
  }
};

// A bucket of 5 minutes, and following buckets in which its last values stay. Also a row of a wider tier.
template <std::size_t N>
struct Piece {
  std::int64_t subject = 0;
  std::int64_t subject_id = 0;
  std::int64_t start_ms = 0;
  std::int64_t buckets = 1;
  std::int64_t lived_ms = 0;  // lifetime of the subject, up to the end of the rolled-up time
  Bucket<N> bucket;

  std::int64_t end_ms(std::int64_t width_ms) const { return start_ms + buckets * width_ms; }
};

template <std::size_t N>
using RollupValues = std::array<std::optional<Level>, N>;

template <std::size_t N>
class Timeline {
 public:
  // `made`, if given, counts the pieces of several timelines.
  Timeline(std::int64_t subject, std::int64_t subject_id, std::int64_t* made = nullptr)
      : subject_(subject), subject_id_(subject_id), made_(made) {}

  // Sets the values from at_ms on. see() observes them; call it after all changes of a tick.
  void set(std::int64_t at_ms, const RollupValues<N>& values, std::int64_t processes) {
    values_ = values;
    processes_ = processes;
    since_ms_ = at_ms;
    live_ = true;
  }
  void see() {
    if (!live_) return;
    open(since_ms_);
    observe();
  }
  void hold_until(std::int64_t until_ms) {
    while (live_ && since_ms_ < until_ms) {
      open(since_ms_);
      const std::int64_t end = std::min(until_ms, start_ms_ + kPieceMs);
      for (std::size_t i = 0; i < N; ++i) {
        if (values_[i]) bucket_.values[i].hold(*values_[i], end - since_ms_);
      }
      bucket_.covered_ms += end - since_ms_;
      since_ms_ = end;
    }
  }
  // Counts a value of a metric that a scan between two ticks observed. Call it in time order.
  void touch(std::size_t metric, std::int64_t value, std::int64_t at_ms) {
    if (!live_ || !values_[metric] || at_ms < since_ms_) return;
    hold_until(at_ms);
    open(at_ms);
    bucket_.values[metric].touch(value, at_ms);
  }
  // Continues after unknown time or a clock step, of which a bucket may have several.
  void go_on_at(std::int64_t at_ms) { since_ms_ = at_ms; }
  // Stops the timeline. It may continue later, when a group has members again.
  void stop() { live_ = false; }

  // Ends the timeline and returns all of its pieces, in time order.
  std::vector<Piece<N>> take() {
    stop();
    close();
    return std::move(pieces_);
  }

  // Continues with the pieces that take() returned.
  void resume(std::vector<Piece<N>> pieces) {
    pieces_ = std::move(pieces);
    if (pieces_.empty() || pieces_.back().buckets > 1) return;
    start_ms_ = pieces_.back().start_ms;
    bucket_ = pieces_.back().bucket;
    open_ = true;
    pieces_.pop_back();
    if (made_ != nullptr) --*made_;
  }

  std::int64_t subject_id() const { return subject_id_; }
  bool live() const { return live_; }
  const RollupValues<N>& values() const { return values_; }

 private:
  void close() {
    if (!open_) return;
    open_ = false;
    if (lengthens_last()) {
      ++pieces_.back().buckets;
    } else {
      pieces_.push_back({subject_, subject_id_, start_ms_, 1, 0, bucket_});
      if (made_ != nullptr) ++*made_;
    }
  }
  void open(std::int64_t at_ms) {
    const std::int64_t start = at_ms - at_ms % kPieceMs;
    if (open_ && start == start_ms_) return;
    close();
    start_ms_ = start;
    bucket_ = {};
    open_ = true;
    observe();
  }
  void observe() {
    for (std::size_t i = 0; i < N; ++i) {
      if (values_[i]) bucket_.values[i].see(values_[i]->value, since_ms_);
    }
    bucket_.processes = std::max(bucket_.processes, processes_);
  }
  bool lengthens_last() const {
    if (pieces_.empty() || bucket_.covered_ms != kPieceMs) return false;
    const Piece<N>& before = pieces_.back();
    return before.end_ms(kPieceMs) == start_ms_ && before.start_ms / kHourMs == start_ms_ / kHourMs &&
           before.bucket.goes_on_as(bucket_);
  }

  std::int64_t subject_;
  std::int64_t subject_id_;
  std::int64_t* made_;
  std::vector<Piece<N>> pieces_;
  RollupValues<N> values_{};
  std::int64_t processes_ = 0;
  std::int64_t since_ms_ = 0;
  std::int64_t start_ms_ = 0;
  Bucket<N> bucket_;
  bool open_ = false;
  bool live_ = false;
};

}  // namespace memoir
