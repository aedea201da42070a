#pragma once

// Converts the times of the kernel log to the boot clock. The log has its own clock (local_clock()), which is not
// adjusted by NTP and stops during suspend. It is off by seconds after days, and by the length of each suspend. Each
// record was written before it is read, so each record narrows the possible difference of the clocks. Pure.

#include <algorithm>
#include <cstdint>

namespace memoir {

class LogClock {
 public:
  // Returns the boot time at which a record was written, from its log time. The result is at most `now_ms`, and at
  // least `since_ms`, because all records written before that have been read.
  std::int64_t boot_ms(std::int64_t log_us, std::int64_t since_ms, std::int64_t now_ms) {
    const std::int64_t log_ms = log_us / 1'000;
    ahead_ms_ = std::clamp(ahead_ms_, std::min(since_ms, now_ms) - log_ms, now_ms - log_ms);
    return log_ms + ahead_ms_;
  }

 private:
  std::int64_t ahead_ms_ = 0;  // boot clock minus log clock
};

}  // namespace memoir
