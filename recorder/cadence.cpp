#include "recorder/cadence.h"

#include <algorithm>

namespace memoir {
namespace {

constexpr std::int64_t kLateMs = 250;
constexpr std::int64_t kBurstTickPpm = 50'000;

}  // namespace

Slot next_slot(std::int64_t now_ms, std::int64_t last_slot_ms, std::int64_t interval_ms) {
  Slot slot;
  slot.at_ms = (now_ms / interval_ms + 1) * interval_ms;
  // A timer may fire a little early, before its slot.
  if (slot.at_ms == last_slot_ms) slot.at_ms += interval_ms;
  // A last slot in the future was set before the clock was stepped back.
  if (last_slot_ms > 0 && last_slot_ms < slot.at_ms) {
    slot.skipped = std::max<std::int64_t>((slot.at_ms - last_slot_ms) / interval_ms - 1, 0);
  }
  return slot;
}

std::int64_t scan_pause_ms(std::int64_t every_ms, std::int64_t cost_us, std::int64_t share_ppm) {
  return std::max(every_ms, cost_us * 1000 / share_ppm);
}

std::int64_t burst_scan_ms(std::int64_t scan_ms) {
  return std::min(scan_ms, std::max<std::int64_t>(scan_ms / 10, 100));
}

std::int64_t burst_tick_ms(std::int64_t interval_ms) {
  const std::int64_t tick_ms = std::max<std::int64_t>(interval_ms / 10, 1000);
  return tick_ms < interval_ms ? tick_ms : 0;
}

bool burst_tick_due(std::int64_t now_ms, std::int64_t last_tick_ms, std::int64_t tick_ms, std::int64_t cost_us) {
  // The previous tick may have been late, so a slightly shorter distance is enough.
  return now_ms - last_tick_ms >= std::max(tick_ms - kLateMs, cost_us * 1000 / kBurstTickPpm);
}

bool early_tick_due(std::int64_t now_ms, std::int64_t last_tick_ms, std::int64_t interval_ms) {
  return now_ms - last_tick_ms >= std::max<std::int64_t>(interval_ms / 4, 1000);
}

bool keyframe_due(std::int64_t now_ms, std::int64_t last_keyframe_ms, std::int64_t every_ms) {
  return last_keyframe_ms == 0 || now_ms / every_ms != last_keyframe_ms / every_ms;
}

}  // namespace memoir
