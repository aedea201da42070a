#pragma once

// Decides what is read in a tick, and when the next tick is. Pure. Today every process is read whole in every tick;
// what is read by need belongs here.

#include <cstdint>

#include "model/process.h"

namespace memoir {

struct ReadPlan {
  bool status = true;
  bool rollup = true;
};

// What to read of a process in this tick.
ReadPlan plan_reads(bool keyframe, const ProcessSample* last);

// The next slot: the first multiple of the interval after `now_ms` that is later than `last_slot_ms`. `skipped` counts
// the slots between.
struct Slot {
  std::int64_t at_ms = 0;
  std::int64_t skipped = 0;
};
Slot next_slot(std::int64_t now_ms, std::int64_t last_slot_ms, std::int64_t interval_ms);

// Whether this tick is a keyframe: the first of a run, the last, or the first in an hour of wall time that has had
// none.
bool keyframe_due(std::int64_t now_ms, std::int64_t last_keyframe_ms, std::int64_t every_ms);

}  // namespace memoir
