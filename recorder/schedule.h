#pragma once

// When the next tick is: the slots of the interval on the wall clock, whatever is done to that clock. Pure.

#include <cstdint>

#include "base/clock.h"
#include "recorder/cadence.h"

namespace memoir {

class Schedule {
 public:
  Schedule(std::int64_t interval_ms, const Moment& start);

  // The next slot after `now`, and how many were passed over since the last one given. When the wall clock was stepped
  // (by half an interval or more against the boot clock), the slots step with it: none is counted as passed over, and
  // the next one is never more than an interval away.
  Slot next(const Moment& now);

 private:
  std::int64_t interval_ms_;
  std::int64_t last_slot_ms_;
  std::int64_t wall_offset_ms_;  // wall clock less boot clock
};

}  // namespace memoir
