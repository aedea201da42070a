#pragma once

// Decides when the next tick is: the slots of the interval on the wall clock, even if that clock is changed. Pure.

#include <cstdint>

#include "base/clock.h"
#include "recorder/cadence.h"

namespace memoir {

class Schedule {
 public:
  Schedule(std::int64_t interval_ms, const Moment& start);

  // Returns the next slot after `now`, and the number of slots skipped since the last one. If the wall clock was
  // stepped (by half an interval or more against the boot clock), the slots step with it: none counts as skipped, and
  // the next slot is never more than an interval away.
  Slot next(const Moment& now);

 private:
  std::int64_t interval_ms_;
  std::int64_t last_slot_ms_;
  std::int64_t wall_offset_ms_;  // wall clock minus boot clock
};

}  // namespace memoir
