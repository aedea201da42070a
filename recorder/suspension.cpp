#include "recorder/suspension.h"

#include <ctime>

#include "base/clock.h"

namespace memoir {

std::int64_t suspended_ms() {
  // Between the readings this thread may have to wait for a processor; not each time.
  constexpr std::int64_t together_us = 1'000;
  while (true) {
    const std::int64_t before = steady_us();
    timespec boot{};
    clock_gettime(CLOCK_BOOTTIME, &boot);
    if (steady_us() - before >= together_us) continue;
    return boot.tv_sec * 1'000 + boot.tv_nsec / 1'000'000 - before / 1'000;
  }
}

}  // namespace memoir
