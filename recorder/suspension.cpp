#include "recorder/suspension.h"

#include "base/clock.h"

namespace memoir {

std::int64_t suspended_ms() {
  // This thread may wait for a processor between the two readings. Then both are read again.
  constexpr std::int64_t together_us = 1'000;
  while (true) {
    const std::int64_t before = steady_us();
    const std::int64_t boot_ms = SystemClock().now().boot_ms;
    if (steady_us() - before < together_us) return boot_ms - before / 1'000;
  }
}

}  // namespace memoir
