#pragma once

// The recorder's own live memory use, as the text that hangs on each of its log lines. Measured at most once per
// interval, because measuring costs; between measurements the last text is given. Safe from any thread.

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "base/clock.h"

namespace memoir {

// All in KiB. The heap is all that the allocator has mapped, and its four parts add up to it.
struct SelfUsage {
  std::int64_t heap_kib = 0;
  std::int64_t sqlite_kib = 0;      // in use by SQLite
  std::int64_t other_kib = 0;       // in use by the rest
  std::int64_t fragments_kib = 0;   // free, but between blocks in use
  std::int64_t releasable_kib = 0;  // free at the top of the heap: malloc_trim would hand it back
  // Of the heap: mapped, but with no page behind it (never touched, or handed back by malloc_trim).
  std::int64_t unbacked_kib = 0;
  std::optional<std::int64_t> rss_kib;  // of the whole process; absent if /proc does not tell

  bool operator==(const SelfUsage&) const = default;
};

SelfUsage measure_self(std::int64_t sqlite_bytes);

// " [rss 9.8M, heap 4.1M = sqlite 1.2M + other 2.1M + free 0.8M]", with a leading space. The heap is shown as the sum
// of the shown parts.
std::string to_text(const SelfUsage& usage);

class SelfUsageText {
 public:
  SelfUsageText(const Clock& clock, std::function<SelfUsage()> measure, std::int64_t interval_ms = 1000);

  std::string text();

 private:
  const Clock& clock_;
  const std::function<SelfUsage()> measure_;
  const std::int64_t interval_ms_;
  std::mutex mutex_;  // guards what follows
  std::optional<std::int64_t> measured_ms_;
  std::string text_;
};

}  // namespace memoir
