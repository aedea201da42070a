#include "collect/cadence.h"

#include <algorithm>

namespace memoir {

ReadPlan plan_reads(bool keyframe, const ProcessSample* last, bool denied) {
  // A zombie has no memory left, and never gets any again.
  const bool zombie = last != nullptr && last->state == 'Z';
  return ReadPlan{.status = true, .rollup = !zombie && (keyframe || !denied), .cgroup = keyframe};
}

Slot next_slot(std::int64_t now_ms, std::int64_t last_slot_ms, std::int64_t interval_ms) {
  Slot slot;
  slot.at_ms = (now_ms / interval_ms + 1) * interval_ms;
  // A timer may fire a little early, before the slot it was set for.
  if (slot.at_ms == last_slot_ms) slot.at_ms += interval_ms;
  // A last slot that lies ahead of us is from before the clock was stepped back.
  if (last_slot_ms > 0 && last_slot_ms < slot.at_ms) {
    slot.skipped = std::max<std::int64_t>((slot.at_ms - last_slot_ms) / interval_ms - 1, 0);
  }
  return slot;
}

bool keyframe_due(std::int64_t now_ms, std::int64_t last_keyframe_ms, std::int64_t every_ms) {
  return last_keyframe_ms == 0 || now_ms / every_ms != last_keyframe_ms / every_ms;
}

}  // namespace memoir
