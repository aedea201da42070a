#include "collect/process/due.h"

namespace memoir {
namespace {

constexpr std::int64_t kStatusEveryMs = 120'000;
// Offset between consecutive pids, which spreads children that started together.
constexpr std::int64_t kTurnMs = 7'919;

}  // namespace

bool rollup_due(bool keyframe, const ProcessSample* last, bool denied) {
  // A zombie has no memory, and never gets any.
  const bool zombie = last != nullptr && last->state == 'Z';
  return !zombie && (keyframe || !denied);
}

bool status_due(std::int32_t pid, std::optional<std::int64_t> read_ms, std::int64_t now_ms) {
  if (!read_ms) return true;
  const std::int64_t turn_ms = pid * kTurnMs % kStatusEveryMs;
  return (now_ms + turn_ms) / kStatusEveryMs != (*read_ms + turn_ms) / kStatusEveryMs;
}

}  // namespace memoir
