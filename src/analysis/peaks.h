#pragma once

// High-water marks: what is resident now says little; the mark says what a program needs. Pure.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/extremes.h"

namespace memoir {

// A mark was reached after before_ms, the tick before, and was seen at at_ms.
struct Peak {
  std::int64_t subject = 0;
  std::int64_t value_kib = 0;
  std::int64_t at_ms = 0;
  std::int64_t before_ms = 0;
  std::optional<SeenBy> seen_by = {};  // absent: that is not told

  bool operator==(const Peak&) const = default;
};

enum class Extreme : std::uint8_t { highest, lowest };

// The most extreme peak of each subject, the most extreme first; of equal ones the earliest. Days fold into a range so.
std::vector<Peak> rank_peaks(std::span<const Peak> peaks, Extreme extreme = Extreme::highest);

// How many times what is resident now. Absent where nothing is resident, or nothing known.
std::optional<double> peak_ratio(std::int64_t peak_kib, std::optional<std::int64_t> now_kib);

// The high-water mark that a process reached within a range. VmHWM is that of its whole life: a mark that stood when
// the range began was reached before, so that only its rise counts, and what is resident.
class HighWaterFold {
 public:
  // Steps in order of time. `resident` and `mark` as the kernel gives them; `newborn`: the process was born in the
  // range.
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
