#pragma once

// Values that scans between two ticks found to be lower or higher than at both ticks.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/process.h"

namespace memoir {

// Origin of a size: a tick, a scan between two ticks, the kernel's report of an exit, or the kernel's own high-water
// mark of a cgroup. The numbers are stored.
enum class Origin : std::uint8_t { sample = 0, scan = 1, exit = 2, memory_peak = 3 };

// Returns nullopt for an unknown number.
constexpr std::optional<Origin> seen_by(std::optional<std::int64_t> number) {
  const bool known = number && *number >= 0 && *number <= static_cast<std::int64_t>(Origin::memory_peak);
  return known ? std::optional(static_cast<Origin>(*number)) : std::nullopt;
}

constexpr std::string_view to_string(Origin by) {
  constexpr std::array<std::string_view, 4> names{"sample", "scan", "exit", "memory.peak"};
  return names.at(static_cast<std::size_t>(by));
}

// A size, and the time (wall clock) at which a scan observed it or the kernel reported it.
struct SeenSize {
  std::int64_t kib = 0;
  std::int64_t at_ms = 0;
  // For a maximum: time of the last scan before it was reached. nullopt if it was reached at an unknown time since the
  // previous tick.
  std::optional<std::int64_t> after_ms = {};
  Origin by = Origin::scan;

  bool operator==(const SeenSize&) const = default;
};

// Extremes of one size between two ticks. The first of several equal values counts. nullopt if no scan found a value
// beyond the ticks' own values.
struct Extremes {
  std::optional<SeenSize> lowest;
  std::optional<SeenSize> highest;

  bool any() const { return lowest || highest; }
  bool operator==(const Extremes&) const = default;
};

struct ProcessExtremes {
  ProcessKey process;  // sampled by the previous tick; it may have exited since
  Extremes rss;
  Extremes anon;
  Extremes hwm;  // last observed VmHWM of an exited process

  bool operator==(const ProcessExtremes&) const = default;
};

// Extremes of the sum over a category's processes. The sum omits processes that started since the previous tick, so
// there is no minimum.
struct CategoryExtremes {
  std::string category;
  Extremes rss;

  bool operator==(const CategoryExtremes&) const = default;
};

// A cgroup's maxima, from memory.peak and memory.swap.peak. The kernel counts no minima.
struct CgroupExtremes {
  std::string path;
  Extremes usage;
  Extremes swap;

  bool operator==(const CgroupExtremes&) const = default;
};

struct TickExtremes {
  Extremes available;                        // machine: MemAvailable
  Extremes used;                             // machine: MemTotal - MemAvailable
  std::vector<ProcessExtremes> processes;    // sorted by key
  std::vector<CategoryExtremes> categories;  // sorted by name
  std::vector<CgroupExtremes> cgroups;       // sorted by path

  bool operator==(const TickExtremes&) const = default;
};

}  // namespace memoir
