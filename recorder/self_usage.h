#pragma once

// Measures the recorder's own memory, and prints it at the end of each log line.

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "base/clock.h"
#include "model/recorder_memory.h"

namespace memoir {

RecorderMemory measure_self(std::int64_t sqlite_bytes);

// " [rss 9.8M, heap 4.1M = ready 3.8M + prepared 0.3M; ready = data 3.4M + fragmentation 0.3M + idle 0.1M]", with a
// leading space. Each sum is the sum of the printed, rounded parts.
std::string to_text(const RecorderMemory& memory);

// Measures at most once per interval, because that is expensive, and otherwise returns the last text. Thread-safe.
class SelfUsageText {
 public:
  SelfUsageText(const Clock& clock, std::function<RecorderMemory()> measure, std::int64_t interval_ms = 1000);

  std::string text();

 private:
  const Clock& clock_;
  const std::function<RecorderMemory()> measure_;
  const std::int64_t interval_ms_;
  std::mutex mutex_;  // protects the members below
  std::optional<std::int64_t> measured_ms_;
  std::string text_;
};

}  // namespace memoir
