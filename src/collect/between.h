#pragma once

// What is seen of a size between two ticks. Pure.

#include <algorithm>
#include <cstdint>
#include <optional>

#include "model/extremes.h"

namespace memoir {

class SizeBetween {
 public:
  // The tick before had it.
  void begin(std::optional<std::int64_t> kib) { before_ = kib; }
  // Of what the tick before did not have nothing is kept. `after_ms`: the look before, if there was one since the tick.
  void see(std::optional<std::int64_t> kib, std::int64_t at_ms, std::optional<std::int64_t> after_ms) {
    if (!before_ || !kib) return;
    if (*kib < (seen_.lowest ? seen_.lowest->kib : *before_)) seen_.lowest = {*kib, at_ms, {}};
    if (*kib > (seen_.highest ? seen_.highest->kib : *before_)) seen_.highest = {*kib, at_ms, after_ms};
  }

  std::optional<std::int64_t> before() const { return before_; }

  // What is beyond both ticks by enough to be worth a row. `now`: what the tick has; absent: its subject ended.
  Extremes beyond(std::optional<std::int64_t> now) const {
    if (!before_) return {};
    const std::int64_t low = std::min(*before_, now.value_or(*before_));
    const std::int64_t high = std::max(*before_, now.value_or(*before_));
    Extremes beyond;
    if (seen_.lowest && low - seen_.lowest->kib > negligible_kib(low)) beyond.lowest = seen_.lowest;
    if (seen_.highest && seen_.highest->kib - high > negligible_kib(high)) beyond.highest = seen_.highest;
    return beyond;
  }

  // Of a mark that a look saw as the tick has it, beyond the sizes that ticks had: when it was reached.
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

// By a cgroup's own high-water mark (memory.peak, memory.swap.peak; v1's memory.max_usage_in_bytes). It is of the
// cgroup's whole life, so that only its rises tell when it was reached; but where its descriptor can be reset
// (cgroup-v2.rst: since 6.12, for that descriptor alone), each reading is of the time since the one before.
class PeakBetween {
 public:
  // What was read, and what the cgroup held when it was read before and holds now. The first reading says nothing.
  Extremes see(std::int64_t kib, std::int64_t at_ms, std::int64_t before_kib, std::int64_t now_kib) {
    const bool reached = read_ms_ && (reset_ || kib > ever_kib_);
    ever_kib_ = was_reset_ ? std::max(ever_kib_.value_or(kib), kib) : kib;
    const std::int64_t after_ms = std::min(read_ms_.value_or(at_ms), at_ms);
    read_ms_ = at_ms;
    reset_ = false;
    SizeBetween size;
    if (reached) size.begin(before_kib);
    size.see(kib, at_ms, after_ms);
    Extremes seen = size.beyond(now_kib);
    if (seen.highest) seen.highest->by = SeenBy::memory_peak;
    return seen;
  }

  // The descriptor was reset after that.
  void note_reset() { reset_ = was_reset_ = true; }

  // Since the cgroup was made, or its mark was reset for all (v1).
  std::optional<std::int64_t> ever_kib() const { return ever_kib_; }

 private:
  std::optional<std::int64_t> ever_kib_;
  std::optional<std::int64_t> read_ms_;
  bool reset_ = false;      // since it was read
  bool was_reset_ = false;  // ever: what is read is not of the whole life any more
};

// Of a process. Begun by the first look after a tick that sees it moved.
struct ProcessBetween {
  SizeBetween rss;
  SizeBetween anon;
  SizeBetween hwm;
};

}  // namespace memoir
