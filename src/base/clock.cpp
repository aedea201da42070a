#include "base/clock.h"

#include <chrono>
#include <ctime>
#include <fmt/chrono.h>

namespace memoir {
namespace {

std::int64_t read_us(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return std::int64_t{t.tv_sec} * 1'000'000 + t.tv_nsec / 1'000;
}

}  // namespace

Moment SystemClock::now() const {
  return Moment{.wall_ms = read_us(CLOCK_REALTIME) / 1'000, .boot_ms = read_us(CLOCK_BOOTTIME) / 1'000};
}

std::string utc(std::int64_t wall_ms) {
  const std::chrono::sys_time<std::chrono::milliseconds> time{std::chrono::milliseconds(wall_ms)};
  return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", std::chrono::floor<std::chrono::seconds>(time));
}

std::int64_t thread_cpu_us() {
  return read_us(CLOCK_THREAD_CPUTIME_ID);
}

std::int64_t steady_us() {
  return read_us(CLOCK_MONOTONIC);
}

}  // namespace memoir
