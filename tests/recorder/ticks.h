#pragma once

// Small ticks for tests of the queue and of storing.

#include <cstdint>

#include "model/tick.h"

namespace memoir::test {

inline Tick tick_at(std::int64_t ms) {
  Tick tick;
  tick.begin = tick.end = Moment{.wall_ms = ms, .boot_ms = ms};
  return tick;
}

inline ProcessKey key(std::int32_t pid, std::uint32_t exec_count = 0) {
  return ProcessKey{.pid = pid, .start_ticks = 1, .exec_count = exec_count};
}

inline ProcessInfo process(std::int32_t pid, std::uint32_t exec_count = 0) {
  ProcessInfo info;
  info.key = key(pid, exec_count);
  return info;
}

}  // namespace memoir::test
