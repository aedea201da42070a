#pragma once

// Decides what is read in a tick, and when the next tick is. Pure. Today every process is read whole in every tick;
// what is read by need belongs here.

#include <cstdint>

#include "model/process.h"

namespace memoir {

struct ReadPlan {
  bool status = true;
  bool rollup = true;
  bool cgroup = false;  // look it up again
};

// What to read of a process in this tick. `last` is what the tick before saw of it, nullptr at its birth. A rollup that
// was denied is tried again at keyframes; the caller does so too where the process may have become another.
ReadPlan plan_reads(bool keyframe, const ProcessSample* last, bool denied);

// The next slot: the first multiple of the interval after `now_ms` that is later than `last_slot_ms` (0: there was
// none). `skipped` counts the slots between. A last slot more than an interval ahead means that the clock was stepped
// back: it is ignored.
struct Slot {
  std::int64_t at_ms = 0;
  std::int64_t skipped = 0;
};
Slot next_slot(std::int64_t now_ms, std::int64_t last_slot_ms, std::int64_t interval_ms);

// Whether a tick is a keyframe by the clock: the first of a run (`last_keyframe_ms` 0), or the first in an `every_ms`
// of wall time that has had none. The last tick of a run is one too; only the caller knows which that is.
bool keyframe_due(std::int64_t now_ms, std::int64_t last_keyframe_ms, std::int64_t every_ms);

}  // namespace memoir
