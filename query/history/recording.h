#pragma once

// The recorder's state and the cost of recording: the numbers of `status`. Pure.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "store/types.h"

namespace memoir::query {

enum class Recording {
  active,   // the recorder runs and ticks
  late,     // the recorder runs, but its last tick is older than it should be
  stopped,  // the last run ended cleanly
  died,     // the last run has no end, and no recorder runs
  never,    // the file has no run
};

std::string_view to_string(Recording recording);

// The owner of the lock is recording. If the lock is visible and free, no recorder runs: a killed one is detected
// immediately. If the lock is not visible (a copied file, another user), the age of the last tick decides.
Recording judge_recording(const FileInfo& file, std::span<const StoredRun> runs, std::int64_t now_ms);

struct TickCosts {
  std::optional<double> mean_cpu_us;
  std::optional<std::int64_t> p95_cpu_us;
  std::optional<double> core_percent;  // percent of one core, including scans between ticks and storing
  double scans = 0;                    // number of scans by the census between ticks, per tick
  double scan_us = 0;                  // average CPU time of a scan
  std::int64_t longest_scan_us = 0;
  std::optional<double> storing_us;  // CPU time per tick, in addition to the tick's own; nullopt: not recorded
  double mean_wall_us = 0;           // wall-clock time of a tick
  std::array<double, static_cast<std::size_t>(CostKind::count_)> kinds{};  // parts of mean_cpu_us; all 0 if unknown
  std::array<double, static_cast<std::size_t>(CostKind::count_)> kinds_wall{};

  double of(CostKind kind) const { return kinds.at(static_cast<std::size_t>(kind)); }
  bool has_kinds() const;
};

// Sources of PSS: means over the ticks that have these counts. The last two members are over all ticks.
struct ReadSummary {
  double exact = 0;  // processes per tick
  double held = 0;
  double estimated = 0;
  double deferred = 0;
  std::int64_t longest_us = 0;
  std::optional<double> error_percent;  // mean error of the estimates that a reading checked
};

std::optional<ReadSummary> sum_up_reads(std::span<const StoredTick> ticks);

TickCosts tick_costs(std::span<const StoredTick> ticks, std::int64_t interval_ms);

// Bytes of the file per day of recording. nullopt if less than an hour was recorded: an empty file has a size too, and
// a short run would give a large number.
std::optional<std::int64_t> bytes_per_day(std::int64_t bytes, std::int64_t recorded_ms);

// Estimated net growth of the file, after the deletions of retention, and the time until it reaches its cap.
struct Growth {
  std::optional<std::int64_t> bytes_per_day;  // may be negative
  std::int64_t measured_days = 0;             // 0: estimated from the size of the file only
  bool filling = false;                       // ticks are kept for longer than the recorded time: growth will slow down
  std::optional<std::int64_t> days_left;      // nullopt if there is no cap, or if the file does not grow
};

Growth growth_of(const FileInfo& file, std::int64_t recorded_ms);

}  // namespace memoir::query
