#pragma once

// Notices that the machine was suspended: meanwhile CLOCK_BOOTTIME goes on and CLOCK_MONOTONIC does not
// (clock_gettime(2)). Pure.

#include <cstdint>
#include <optional>

namespace memoir {

class Suspension {
 public:
  // Both clocks at a tick, in milliseconds. For how long the machine slept since the last call, if it did.
  std::optional<std::int64_t> see(std::int64_t boot_ms, std::int64_t monotonic_ms) {
    const std::int64_t apart = boot_ms - monotonic_ms;
    const std::int64_t slept = apart_ms_ ? apart - *apart_ms_ : 0;
    apart_ms_ = apart;
    // The two are not read at the same moment.
    constexpr std::int64_t least_ms = 1000;
    return slept >= least_ms ? std::optional(slept) : std::nullopt;
  }

 private:
  std::optional<std::int64_t> apart_ms_;
};

}  // namespace memoir
