#pragma once

// Tracks the extremes of a size between two ticks. Pure.

#include <algorithm>
#include <cstdint>
#include <optional>

#include "model/extremes.h"

namespace memoir {

class SizeExtremes {
 public:
  // Starts an interval with the value of the previous tick.
  void begin(std::optional<std::int64_t> kib) { before_ = kib; }
  // Takes the value of a scan. Ignores it if the previous tick had no value. `after_ms` is the time of the previous
  // scan; nullopt if there was none since the tick.
  void see(std::optional<std::int64_t> kib, std::int64_t at_ms, std::optional<std::int64_t> after_ms) {
    if (!before_ || !kib) return;
    if (*kib < (seen_.lowest ? seen_.lowest->kib : *before_)) seen_.lowest = {*kib, at_ms, {}};
    if (*kib > (seen_.highest ? seen_.highest->kib : *before_)) seen_.highest = {*kib, at_ms, after_ms};
  }

  std::optional<std::int64_t> before() const { return before_; }

  // Returns the extremes that are far enough beyond the values of both ticks to be stored. `now` is the value of this
  // tick; nullopt if its subject exited.
  Extremes beyond(std::optional<std::int64_t> now) const {
    if (!before_) return {};
    const std::int64_t low = std::min(*before_, now.value_or(*before_));
    const std::int64_t high = std::max(*before_, now.value_or(*before_));
    Extremes beyond;
    if (seen_.lowest && low - seen_.lowest->kib > negligible_kib(low)) beyond.lowest = seen_.lowest;
    if (seen_.highest && seen_.highest->kib - high > negligible_kib(high)) beyond.highest = seen_.highest;
    return beyond;
  }

  // Returns the high-water mark of this tick with the time at which a scan observed it, if it is above the sizes at
  // both ticks.
  Extremes spike(std::optional<std::int64_t> mark, std::int64_t resident_kib) const {
    const bool seen = seen_.highest && mark && seen_.highest->kib == *mark;
    if (!seen || *mark - resident_kib <= negligible_kib(resident_kib)) return {};
    return {.lowest = {}, .highest = seen_.highest};
  }

 private:
  static std::int64_t negligible_kib(std::int64_t kib) { return std::max<std::int64_t>(kib / 64, 256); }

  std::optional<std::int64_t> before_;
  Extremes seen_;
};

// Tracks a cgroup's own high-water mark (memory.peak, memory.swap.peak; v1's memory.max_usage_in_bytes). The mark
// covers the cgroup's lifetime, so only its rises have a known time. If the descriptor can be reset (for this
// descriptor only, since Linux 6.12; cgroup-v2.rst), each reading covers the time since the previous one.
class PeakTracker {
 public:
  // Takes a reading, with the cgroup's usage at the previous reading and now. The first reading returns no extremes.
  Extremes see(std::int64_t kib, std::int64_t at_ms, std::int64_t before_kib, std::int64_t now_kib) {
    const bool reached = read_ms_ && (reset_ || kib > ever_kib_);
    ever_kib_ = was_reset_ ? std::max(ever_kib_.value_or(kib), kib) : kib;
    const std::int64_t after_ms = std::min(read_ms_.value_or(at_ms), at_ms);
    read_ms_ = at_ms;
    reset_ = false;
    SizeExtremes size;
    if (reached) size.begin(before_kib);
    size.see(kib, at_ms, after_ms);
    Extremes seen = size.beyond(now_kib);
    if (seen.highest) seen.highest->by = Origin::memory_peak;
    return seen;
  }

  // Call it when the descriptor was reset after the reading.
  void note_reset() { reset_ = was_reset_ = true; }

  // Returns the mark since the cgroup was created, or since it was reset for all readers (v1); nullopt before the first
  // reading.
  std::optional<std::int64_t> ever_kib() const { return ever_kib_; }

 private:
  std::optional<std::int64_t> ever_kib_;
  std::optional<std::int64_t> read_ms_;
  bool reset_ = false;      // the descriptor was reset after the last reading
  bool was_reset_ = false;  // true after the first reset: readings no longer cover the lifetime
};

// Extremes of a process, created when a scan first observes a change since the last tick.
struct ProcessBetween {
  SizeExtremes rss;
  SizeExtremes anon;
  SizeExtremes hwm;
};

}  // namespace memoir
