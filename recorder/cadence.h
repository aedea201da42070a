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

// How long to wait with the next look of the census: `every_ms`, or for as long as looks take no more than this share
// of a core, in millionths. `cost_us`: of the last one.
inline constexpr std::int64_t kLookPpm = 1'000;
inline constexpr std::int64_t kBurstLookPpm = 10'000;
std::int64_t look_pause_ms(std::int64_t every_ms, std::int64_t cost_us, std::int64_t share_ppm = kLookPpm);

// In a burst (burst.h): ten times as often as else, but looks no more often than each 100 ms, ticks than each second.
// What is slower by configuration stays slow in proportion: who wants a tick an hour has room for few. 0: there are
// none.
std::int64_t burst_look_ms(std::int64_t look_ms);
std::int64_t burst_tick_ms(std::int64_t interval_ms);

// Whether a tick of a burst may come now, which takes at most a twentieth of a core with the others.
bool burst_tick_due(std::int64_t now_ms, std::int64_t last_tick_ms, std::int64_t tick_ms, std::int64_t cost_us);

// Whether a tick may come before its slot, outside of bursts, because a process grows fast: not before a quarter of the
// interval, nor before a second, has passed since the last (boot clock).
bool early_tick_due(std::int64_t now_ms, std::int64_t last_tick_ms, std::int64_t interval_ms);

// Whether a tick is a keyframe by the clock: the first of a run (`last_keyframe_ms` 0), or the first in an `every_ms`
// of wall time that has had none. The last tick of a run is one too; only the caller knows which that is.
bool keyframe_due(std::int64_t now_ms, std::int64_t last_keyframe_ms, std::int64_t every_ms);

}  // namespace memoir
