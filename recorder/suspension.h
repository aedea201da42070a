#pragma once

// Notices that the machine was suspended. Pure.

#include <cstdint>
#include <optional>

namespace memoir {

// For how long the machine has been suspended since boot, in milliseconds: meanwhile CLOCK_BOOTTIME goes on and
// CLOCK_MONOTONIC does not (clock_gettime(2)). The two are read together.
std::int64_t suspended_ms();

class Suspension {
 public:
  // suspended_ms() at a tick. For how long the machine slept since the last call, if it did.
  std::optional<std::int64_t> see(std::int64_t suspended_ms) {
    constexpr std::int64_t least_ms = 1000;
    const std::int64_t slept = suspended_ms - last_ms_.value_or(suspended_ms);
    last_ms_ = suspended_ms;
    return slept >= least_ms ? std::optional(slept) : std::nullopt;
  }

 private:
  std::optional<std::int64_t> last_ms_;
};

}  // namespace memoir
