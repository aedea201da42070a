#pragma once

// Time for all of Memoir. Code that needs the time takes a Clock, so that tests can set the time.

#include <cstdint>
#include <string>

namespace memoir {

// One moment on two clocks. The wall clock gives a date and can be stepped; the boot clock (CLOCK_BOOTTIME: includes
// suspended time, never steps) orders events within one boot.
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

// Formats a time: "2026-11-20 10:34:05 UTC".
std::string utc(std::int64_t wall_ms);

// Return the CPU time of the calling thread (CLOCK_THREAD_CPUTIME_ID), and the time of a clock that never steps, both
// in µs.
std::int64_t thread_cpu_us();
std::int64_t steady_us();

}  // namespace memoir
