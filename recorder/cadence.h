#pragma once

// Decides when the next tick, scan and keyframe are. Pure.

#include <cstdint>

namespace memoir {

// The next slot: the first multiple of the interval after `now_ms` that is later than `last_slot_ms` (0: there was
// none). `skipped` counts the slots between. A last slot more than an interval ahead means that the clock was stepped
// back: it is ignored.
struct Slot {
  std::int64_t at_ms = 0;
  std::int64_t skipped = 0;
};
Slot next_slot(std::int64_t now_ms, std::int64_t last_slot_ms, std::int64_t interval_ms);

// Delay until the next scan of the census: `every_ms`, or as long as needed to limit scans to this share of a core, in
// millionths. `cost_us`: of the last scan.
inline constexpr std::int64_t kScanPpm = 1'000;
inline constexpr std::int64_t kBurstScanPpm = 10'000;
std::int64_t scan_pause_ms(std::int64_t every_ms, std::int64_t cost_us, std::int64_t share_ppm = kScanPpm);

// In a burst (burst.h): ten times as often as otherwise, but scans at most every 100 ms, ticks every second. Slower
// configurations stay proportionally slower: a tick an hour means little space for ticks. 0: none.
std::int64_t burst_scan_ms(std::int64_t scan_ms);
std::int64_t burst_tick_ms(std::int64_t interval_ms);

// Returns whether a tick of a burst may be made now; all of them together take at most a twentieth of a core.
bool burst_tick_due(std::int64_t now_ms, std::int64_t last_tick_ms, std::int64_t tick_ms, std::int64_t cost_us);

// Returns whether a tick may come before its slot, outside of bursts, because a process grows fast: not before a
// quarter of the interval, nor a second, has passed since the last (boot clock).
bool early_tick_due(std::int64_t now_ms, std::int64_t last_tick_ms, std::int64_t interval_ms);

// Returns whether a tick is a keyframe by the clock: the first of a run (`last_keyframe_ms` 0), or the first in an
// `every_ms` of wall time without one. The last tick of a run is one too, which only the caller knows.
bool keyframe_due(std::int64_t now_ms, std::int64_t last_keyframe_ms, std::int64_t every_ms);

}  // namespace memoir
