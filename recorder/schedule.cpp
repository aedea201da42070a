#include "recorder/schedule.h"

#include <algorithm>
#include <cstdlib>

namespace memoir {

Schedule::Schedule(std::int64_t interval_ms, const Moment& start)
    : interval_ms_(interval_ms),
      last_slot_ms_(start.wall_ms - start.wall_ms % interval_ms),
      wall_offset_ms_(start.wall_ms - start.boot_ms) {}

Slot Schedule::next(const Moment& now) {
  const std::int64_t offset = now.wall_ms - now.boot_ms;
  const std::int64_t step = offset - wall_offset_ms_;
  wall_offset_ms_ = offset;
  // Moves the last slot with the clock and rounds it down to a slot of the new time, so that the step itself skips no
  // slot.
  if (std::abs(step) * 2 >= interval_ms_) {
    last_slot_ms_ += step;
    last_slot_ms_ -= last_slot_ms_ % interval_ms_;
    last_slot_ms_ = std::min(last_slot_ms_, now.wall_ms);
  }
  const Slot slot = next_slot(now.wall_ms, last_slot_ms_, interval_ms_);
  last_slot_ms_ = slot.at_ms;
  return slot;
}

}  // namespace memoir
