#pragma once

// Detects that the machine was suspended. Pure.

#include <cstdint>
#include <optional>

namespace memoir {

// Returns the total suspended time since boot, in milliseconds: during suspend CLOCK_BOOTTIME advances and
// CLOCK_MONOTONIC does not (clock_gettime(2)). Both clocks are read within a millisecond.
std::int64_t suspended_ms();

class Suspension {
 public:
  // Takes suspended_ms() at a tick. Returns how long the machine was suspended since the last call, in ms; nullopt
  // below 1 s.
  std::optional<std::int64_t> see(std::int64_t suspended_ms) {
    constexpr std::int64_t min_ms = 1000;
    const std::int64_t slept = suspended_ms - last_ms_.value_or(suspended_ms);
    last_ms_ = suspended_ms;
    return slept >= min_ms ? std::optional(slept) : std::nullopt;
  }

 private:
  std::optional<std::int64_t> last_ms_;
};

}  // namespace memoir
