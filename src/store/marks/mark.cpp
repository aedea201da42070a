#include "store/marks/mark.h"

#include <algorithm>

#include "store/tiers.h"

namespace memoir {

std::int64_t day_of(std::int64_t wall_ms) {
  std::int64_t past = wall_ms % kDayLengthMs;
  if (past < 0) past += kDayLengthMs;
  return wall_ms - past;
}

MarkTime since_start(MarkTime time, std::int64_t start_ms, bool had_tick_before) {
  const std::int64_t earliest = had_tick_before ? std::max(time.before_ms, start_ms) : start_ms;
  return {time.at_ms, std::min(earliest, time.at_ms), time.by};
}

}  // namespace memoir
