#pragma once

// Decides when the next tick, scan and keyframe are. Pure.

#include <cstdint>

namespace memoir {

// The next slot: the first multiple of the interval after `now_ms` that is later than `last_slot_ms` (0: there was
// none). `skipped` counts the slots between the two. A last slot more than an interval ahead means that the clock was
// stepped back: it is ignored.
struct Slot {
  std::int64_t at_ms = 0;
  std::int64_t skipped = 0;
};
Slot next_slot(std::int64_t now_ms, std::int64_t last_slot_ms, std::int64_t interval_ms);

// Delay until the next scan of the census: `every_ms`, or longer if scans would use more than `share_ppm` millionths of
// a core. `cost_us` is the CPU time of the last scan.
inline constexpr std::int64_t kScanPpm = 1'000;
inline constexpr std::int64_t kBurstScanPpm = 10'000;
std::int64_t scan_pause_ms(std::int64_t every_ms, std::int64_t cost_us, std::int64_t share_ppm = kScanPpm);

// Intervals in a burst (burst.h): a tenth of the configured ones, but at least 100 ms for scans and 1 s for ticks.
// burst_tick_ms() returns 0 if its result would not be shorter than the interval: a burst then has no ticks of its own.
std::int64_t burst_scan_ms(std::int64_t scan_ms);
std::int64_t burst_tick_ms(std::int64_t interval_ms);

// Returns whether a tick of a burst may be taken now. All ticks of bursts together use at most a twentieth of a core.
bool burst_tick_due(std::int64_t now_ms, std::int64_t last_tick_ms, std::int64_t tick_ms, std::int64_t cost_us);

// Returns whether a tick may come before its slot because a process grows fast, outside of bursts. At least a quarter
// of the interval and at least a second must have passed since the last tick (boot clock).
bool early_tick_due(std::int64_t now_ms, std::int64_t last_tick_ms, std::int64_t interval_ms);

// Returns whether a tick is a keyframe by the wall clock: the first of a run (`last_keyframe_ms` is 0), or the first in
// a period of `every_ms`. The caller makes the last tick of a run a keyframe too.
bool keyframe_due(std::int64_t now_ms, std::int64_t last_keyframe_ms, std::int64_t every_ms);

}  // namespace memoir
