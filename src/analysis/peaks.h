#pragma once

// High-water marks, which show how much memory a program needs better than its current RSS does. Pure.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/extremes.h"

namespace memoir {

// A mark that was reached after before_ms (the previous tick) and observed at at_ms.
struct Peak {
  std::int64_t subject = 0;
  std::int64_t value_kib = 0;
  std::int64_t at_ms = 0;
  std::int64_t before_ms = 0;
  std::optional<Origin> seen_by = {};  // nullopt if unknown

  bool operator==(const Peak&) const = default;
};

enum class Extreme : std::uint8_t { highest, lowest };

// Returns the most extreme peak of each subject, sorted with the most extreme first. Of equal peaks, the earliest
// counts. The peaks of several days can thus be combined into the peaks of a range.
std::vector<Peak> rank_peaks(std::span<const Peak> peaks, Extreme extreme = Extreme::highest);

// Returns the peak divided by the current RSS; nullopt if RSS is 0 or unknown.
std::optional<double> peak_ratio(std::int64_t peak_kib, std::optional<std::int64_t> now_kib);

// The high-water mark that a process reached within a range. VmHWM covers its whole lifetime, so a mark that existed at
// the start of the range was reached before. Therefore only rises of the mark, and the resident memory, count.
class HighWaterFold {
 public:
  // Adds the kernel's values at one time: RSS and VmHWM. Calls must be in time order. `newborn`: the process started
  // within the range.
  void add(std::int64_t at_ms, std::optional<std::int64_t> resident_kib, std::optional<std::int64_t> mark_kib,
           bool newborn);

  struct Found {
    std::int64_t value_kib = 0;
    std::int64_t at_ms = 0;
  };
  std::optional<Found> found() const { return found_; }

 private:
  void see(std::int64_t at_ms, std::int64_t value_kib);

  std::optional<Found> found_;
  std::optional<std::int64_t> standing_kib_;
};

}  // namespace memoir
