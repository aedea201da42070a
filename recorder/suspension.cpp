#include "recorder/suspension.h"

#include "base/clock.h"

namespace memoir {

std::int64_t suspended_ms() {
  // The two clocks are read again if this thread had to wait for a processor between them.
  constexpr std::int64_t together_us = 1'000;
  while (true) {
    const std::int64_t before = steady_us();
    const std::int64_t boot_ms = SystemClock().now().boot_ms;
    if (steady_us() - before < together_us) return boot_ms - before / 1'000;
  }
}

}  // namespace memoir
