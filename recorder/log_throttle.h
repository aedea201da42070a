#pragma once

// Keeps a repeated error from flooding the log: it is due the first time, and then at most every 30 s until it ends.

#include <cstdint>
#include <optional>

namespace memoir {

class LogThrottle {
 public:
  static constexpr std::int64_t kEveryMs = 30'000;

  // Returns whether to log the error that occurs now.
  bool due(std::int64_t boot_ms) {
    if (last_ms_ && boot_ms - *last_ms_ < kEveryMs) return false;
    last_ms_ = boot_ms;
    return true;
  }

  // Call it when the error no longer occurs. Returns whether it had been logged.
  bool over() {
    const bool was = last_ms_.has_value();
    last_ms_.reset();
    return was;
  }

 private:
  std::optional<std::int64_t> last_ms_;
};

}  // namespace memoir
