#pragma once

// The times of the kernel's log on the boot clock. The log has a clock of its own (local_clock(): no NTP keeps it in
// step, and it stands still while the machine is suspended), which is off by seconds after days, and by all of a
// night's sleep after that. When a record was read bounds when it was written, and with each the difference is better
// known. Pure.

#include <algorithm>
#include <cstdint>

namespace memoir {

class LogClock {
 public:
  // When a record was written (boot clock): of its own time, at most `now_ms`, and not before `since_ms`, where all
  // that were written before have been read.
  std::int64_t boot_ms(std::int64_t log_us, std::int64_t since_ms, std::int64_t now_ms) {
    const std::int64_t log_ms = log_us / 1'000;
    ahead_ms_ = std::clamp(ahead_ms_, std::min(since_ms, now_ms) - log_ms, now_ms - log_ms);
    return log_ms + ahead_ms_;
  }

 private:
  std::int64_t ahead_ms_ = 0;  // the boot clock, of the log's
};

}  // namespace memoir
