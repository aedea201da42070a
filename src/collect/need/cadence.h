#pragma once

// Decides what is read in a tick, and when the next tick is. Pure.

#include <cstdint>
#include <optional>

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

// Whether to read the status of a process again that a census by /proc did not see move: its state, threads, name,
// user, peaks and swap move without statm. Every two minutes of the boot clock; the processes of a machine take turns.
// `read_ms`: when it was read last.
bool status_due(std::int32_t pid, std::optional<std::int64_t> read_ms, std::int64_t now_ms);

// The next slot: the first multiple of the interval after `now_ms` that is later than `last_slot_ms` (0: there was
// none). `skipped` counts the slots between. A last slot more than an interval ahead means that the clock was stepped
// back: it is ignored.
struct Slot {
  std::int64_t at_ms = 0;
  std::int64_t skipped = 0;
};
Slot next_slot(std::int64_t now_ms, std::int64_t last_slot_ms, std::int64_t interval_ms);

// How long to wait with the next look of the census: `every_ms`, or for as long as looks take no more than a thousandth
// of a core. `cost_us`: of the last one.
std::int64_t look_pause_ms(std::int64_t every_ms, std::int64_t cost_us);

// Whether a tick may come before its slot because a process grows fast: not before a quarter of the interval, nor
// before a second, has passed since the last (boot clock).
bool early_tick_due(std::int64_t now_ms, std::int64_t last_tick_ms, std::int64_t interval_ms);

// Whether a tick is a keyframe by the clock: the first of a run (`last_keyframe_ms` 0), or the first in an `every_ms`
// of wall time that has had none. The last tick of a run is one too; only the caller knows which that is.
bool keyframe_due(std::int64_t now_ms, std::int64_t last_keyframe_ms, std::int64_t every_ms);

}  // namespace memoir
