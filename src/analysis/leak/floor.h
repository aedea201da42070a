#pragma once

// Computes the floors of blocks from buckets, and removes the weekly pattern and isolated steps from the floors before
// a line is fitted. Times are in days (24 × LeakSettings::hour_ms) relative to the end of the series, so <= 0. Pure.

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
  double block = 0;  // width of a block, in days
};

// Up to this number of daily blocks, the same hours of different days are compared instead (phase_floors()).
inline constexpr std::size_t kFewBlocks = 14;

// Returns a window with blocks of one day if it has five of them, otherwise with twelve blocks.
LeakWindow make_window(double days);

// Returns the buckets that start in the last `days`.
std::span<const LeakHour> last_days(std::span<const LeakHour> hours, double days);

// Returns the soft floor of each block: the mean of the lower half (or of the `lowest` part) of its buckets' minima. A
// single low reading changes it less than the plain minimum. The last block ends where the series ends. Blocks with
// values for less than half of their time are omitted. `day` is the middle of the block.
std::vector<TimedValue> soft_floors(std::span<const LeakHour> hours, const LeakWindow& window, double lowest = 0.5);

// Returns the mean of each block. Omits the same blocks as soft_floors().
std::vector<TimedValue> block_means(std::span<const LeakHour> hours, const LeakWindow& window);

// Returns the floors of blocks of an eighth of a day, with the time of day as the stratum. If there are only a few
// days, comparing the same time of different days is better than comparing one floor per day.
std::vector<TimedValue> phase_floors(std::span<const LeakHour> hours, double days);

// Removes each weekday's usual distance from the trend, if these distances explain half of the scatter around the
// trend. Needs two weeks. Returns whether they were removed.
bool remove_weekly_pattern(std::vector<TimedValue>& floors);

struct LeakStep {
  double day = 0;  // time of the first floor after the step
  double by = 0;
};

// put_back() returns the floors with the steps added again; without() returns them with the steps removed.
std::vector<TimedValue> put_back(std::vector<TimedValue> floors, std::span<const LeakStep> steps);
std::vector<TimedValue> without(std::vector<TimedValue> floors, std::span<const LeakStep> steps);

// Removes isolated jumps: increments that are far from the others (6 deviations) and above 2 % of the level. There may
// be at most four, and at most a quarter of all increments, and they must make up 30 % of all movement. If there are
// more jumps, the series grows by jumps, and none is removed. Floors after a jump are shifted back by its size. Returns
// the removed jumps.
std::vector<LeakStep> remove_steps(std::vector<TimedValue>& floors);

// Finds lasting jumps in the hours of a whole life. A jump is the median of six hours' minima less the median of the
// six hours before. It must exceed the usual changes between such medians, and half of it must remain a day later.
// Returns no jumps for a life of less than two days.
std::vector<LeakStep> edges_of(std::span<const LeakHour> hours);

// Removes the steps at the `edges` that are within the floors. As in remove_steps(), removes none if there are too
// many. Returns the removed steps.
std::vector<LeakStep> take_out_edges(std::span<const LeakStep> edges, std::vector<TimedValue>& floors);

}  // namespace memoir
