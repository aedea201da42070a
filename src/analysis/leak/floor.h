#pragma once

// Computes the floors of blocks from buckets, and removes the weekly pattern and isolated steps from the floors before
// a line is fitted. Times are in days (24 × LeakSettings::hour_ms) before the end of the series, so <= 0. Pure.

#include <span>
#include <vector>

#include "analysis/leak/statistics.h"

namespace memoir {

// A bucket on the time axis of the analysis.
struct LeakHour {
  double begin = 0;  // days
  double end = 0;
  double min = 0;
  double mean = 0;
  double max = 0;
};

// The judged part of a life: its last `days`.
struct LeakWindow {
  double days = 0;
  double block = 0;  // width of a block, days
};

// Up to this many days, phases of the day are compared as well.
inline constexpr std::size_t kFewBlocks = 14;

// Returns blocks of one day if the window holds five of them, otherwise blocks of a twelfth of the window.
LeakWindow make_window(double days);

// Returns the buckets that start in the last `days`.
std::span<const LeakHour> last_days(std::span<const LeakHour> hours, double days);

// Returns the soft floor of each block: the mean of the lower half (or `lowest` part) of its buckets' minima. A single
// low reading changes it less than the plain minimum. Blocks end where the series ends; blocks less than half covered
// are left out. `day` is the middle of the block.
std::vector<TimedValue> soft_floors(std::span<const LeakHour> hours, const LeakWindow& window, double lowest = 0.5);

// Returns the mean of each block; the same blocks are left out.
std::vector<TimedValue> block_means(std::span<const LeakHour> hours, const LeakWindow& window);

// Returns floors of an eighth of a day, with the hour of the day as the stratum. With few days, the same hour of
// different days is a better comparison than one floor per day.
std::vector<TimedValue> phase_floors(std::span<const LeakHour> hours, double days);

// Removes the weekday's usual distance from the trend, if the week explains half of the scatter around the trend. Needs
// two weeks. Returns true if it was removed.
bool remove_weekly_pattern(std::vector<TimedValue>& floors);

struct LeakStep {
  double day = 0;  // of the first floor after the step
  double by = 0;
};

// Returns the floors with previously removed steps restored, or with steps removed.
std::vector<TimedValue> put_back(std::vector<TimedValue> floors, std::span<const LeakStep> steps);
std::vector<TimedValue> without(std::vector<TimedValue> floors, std::span<const LeakStep> steps);

// Removes isolated jumps: increments far from the others (6 deviations) and above 2 % of the level. There may be at
// most four, at most a quarter of all increments, and they must make up 30 % of all movement. Later floors are shifted
// down by them. With more jumps than that, jumping is the way the series grows.
std::vector<LeakStep> remove_steps(std::vector<TimedValue>& floors);

// Finds jumps of daily floors among the hours, where a jump exceeds the noise within a day. The median of six hours'
// minima is compared with that of the six hours before, if half of the jump remains a day later. Covers a whole life;
// empty for a life under two days.
std::vector<LeakStep> edges_of(std::span<const LeakHour> hours);

// Removes the steps at those edges that are among the floors, within the same limits on their number. Returns the
// removed steps.
std::vector<LeakStep> take_out_edges(std::span<const LeakStep> edges, std::vector<TimedValue>& floors);

}  // namespace memoir
