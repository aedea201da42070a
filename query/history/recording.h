#pragma once

// Whether it is recording, and what recording costs: the numbers behind `status`. Pure.

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
  late,     // it runs, but its last tick is older than it should be
  stopped,  // the last run was ended in order
  died,     // the last run has no end, and nobody runs
  never,    // the file has no run
};

std::string_view to_string(Recording recording);

// Who holds the lock is recording; where it can be seen and nobody holds it, nobody is: a recorder that was killed is
// dead at once. Where it cannot be seen (a copied file, another user), the age of the last tick decides.
Recording judge_recording(const FileInfo& file, std::span<const StoredRun> runs, std::int64_t now_ms);

struct TickCosts {
  std::optional<double> mean_cpu_us;
  std::optional<std::int64_t> p95_cpu_us;
  std::optional<double> core_percent;  // of one core, with the looks between ticks and storing
  double looks = 0;                    // of the census between two ticks,
  double look_us = 0;                  // and what one of them takes of CPU, on average
  std::int64_t longest_look_us = 0;
  std::optional<double> storing_us;  // CPU per tick, beside the tick's own; absent: not recorded
  double mean_wall_us = 0;           // from begin to end
  std::array<double, static_cast<std::size_t>(CostKind::count_)> kinds{};  // of the mean CPU; all 0: not told
  std::array<double, static_cast<std::size_t>(CostKind::count_)> kinds_wall{};

  double of(CostKind kind) const { return kinds.at(static_cast<std::size_t>(kind)); }
  bool tells_kinds() const;
};

// How PSS was known over ticks of which that is recorded, on average; the rest all together.
struct ReadSummary {
  double exact = 0;  // processes in a tick
  double held = 0;
  double estimated = 0;
  double put_off = 0;
  std::int64_t longest_us = 0;
  std::optional<double> error_percent;  // of estimates that were checked by a reading
};

std::optional<ReadSummary> sum_up_reads(std::span<const StoredTick> ticks);

TickCosts tick_costs(std::span<const StoredTick> ticks, std::int64_t interval_ms);

// Bytes of the file per day of recording. Absent if less than an hour was recorded: an empty file has a size too, and a
// short run would make a large number of it.
std::optional<std::int64_t> bytes_per_day(std::int64_t bytes, std::int64_t recorded_ms);

// How fast the file grows, with what retention takes away again, and how long its cap lasts if it goes on so:
// estimates.
struct Growth {
  std::optional<std::int64_t> bytes_per_day;  // may be negative
  std::int64_t measured_days = 0;             // 0: from the size of the file alone
  bool filling = false;                       // ticks are kept for longer than any were recorded: it will slow down
  std::optional<std::int64_t> days_left;      // absent: no cap, or none that is coming nearer
};

Growth growth_of(const FileInfo& file, std::int64_t recorded_ms);

}  // namespace memoir::query
