#pragma once

// High-water marks: what is resident now says little; the mark says what a program needs. Pure.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace memoir {

// The kernel keeps VmHWM between two readings, so a mark was reached after before_ms and was seen at at_ms.
struct Mark {
  std::int64_t subject = 0;
  std::int64_t value_kib = 0;
  std::int64_t at_ms = 0;
  std::int64_t before_ms = 0;

  bool operator==(const Mark&) const = default;
};

enum class Extreme : std::uint8_t { highest, lowest };

// The most extreme mark of each subject, the most extreme first; of equal ones the earliest. Days fold into a range so.
std::vector<Mark> rank_marks(std::span<const Mark> marks, Extreme extreme = Extreme::highest);

// How many times what is resident now. Absent where nothing is resident, or nothing known.
std::optional<double> mark_ratio(std::int64_t mark_kib, std::optional<std::int64_t> now_kib);

}  // namespace memoir
