#pragma once

// Time as the rest of Memoir sees it. Everything that needs the time takes a Clock, so that tests can turn the hands.

#include <cstdint>
#include <string>

namespace memoir {

// One moment on two clocks. The wall clock dates a thing for people and can be stepped; the boot clock
// (CLOCK_BOOTTIME: counts suspended time too, never steps) orders things within one boot.
struct Moment {
  std::int64_t wall_ms = 0;  // milliseconds since the Unix epoch, UTC
  std::int64_t boot_ms = 0;  // milliseconds since boot

  bool operator==(const Moment&) const = default;
};

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Moment now() const = 0;
};

class SystemClock final : public Clock {
 public:
  Moment now() const override;
};

// "2026-11-20 10:34:05 UTC"
std::string utc(std::int64_t wall_ms);

// Microseconds of CPU that the calling thread has used (CLOCK_THREAD_CPUTIME_ID), and a steady wall clock to go with
// it.
std::int64_t thread_cpu_us();
std::int64_t steady_us();

}  // namespace memoir
