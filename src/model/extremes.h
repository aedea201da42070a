#pragma once

// What looks between two ticks saw lower or higher than both ticks have it. What a tick's own values say already is not
// among these.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/process.h"

namespace memoir {

// Where a size was seen: at a tick, by a look between two, when the kernel told how a process ended, or as the kernel's
// own high-water mark of a cgroup. The numbers are the store's.
enum class SeenBy : std::uint8_t { sample = 0, look = 1, exit = 2, memory_peak = 3 };

// Of a number that we do not know: absent.
constexpr std::optional<SeenBy> seen_by(std::optional<std::int64_t> number) {
  const bool known = number && *number >= 0 && *number <= static_cast<std::int64_t>(SeenBy::memory_peak);
  return known ? std::optional(static_cast<SeenBy>(*number)) : std::nullopt;
}

constexpr std::string_view to_string(SeenBy by) {
  constexpr std::array<std::string_view, 4> names{"sample", "look", "exit", "memory.peak"};
  return names.at(static_cast<std::size_t>(by));
}

// A size, and when a look saw it, or the kernel told it (wall clock).
struct SeenSize {
  std::int64_t kib = 0;
  std::int64_t at_ms = 0;
  // Of a highest one: when a look saw that it was not yet so. Absent: it was so since the tick before at the earliest.
  std::optional<std::int64_t> after_ms = {};
  SeenBy by = SeenBy::look;

  bool operator==(const SeenSize&) const = default;
};

// Of one size in the time between two ticks; of equal ones the first. Absent: it was not beyond the ticks' own.
struct Extremes {
  std::optional<SeenSize> lowest;
  std::optional<SeenSize> highest;

  bool any() const { return lowest || highest; }
  bool operator==(const Extremes&) const = default;
};

struct ProcessExtremes {
  ProcessKey process;  // that the tick before had; it may have ended since
  Extremes rss;
  Extremes anon;
  Extremes hwm;  // of one that ended: VmHWM as seen last

  bool operator==(const ProcessExtremes&) const = default;
};

// Of the sum over a category's processes, those that began since the tick before left out: so there is no lowest.
struct CategoryExtremes {
  std::string category;
  Extremes rss;

  bool operator==(const CategoryExtremes&) const = default;
};

// By memory.peak and memory.swap.peak: there is no lowest.
struct CgroupExtremes {
  std::string path;
  Extremes usage;
  Extremes swap;

  bool operator==(const CgroupExtremes&) const = default;
};

struct TickExtremes {
  Extremes available;                        // of the machine: MemAvailable,
  Extremes used;                             // and the rest of MemTotal
  std::vector<ProcessExtremes> processes;    // sorted by key
  std::vector<CategoryExtremes> categories;  // sorted by name
  std::vector<CgroupExtremes> cgroups;       // sorted by path

  bool operator==(const TickExtremes&) const = default;
};

}  // namespace memoir
