#pragma once

// From buckets to the floors of blocks, and what is taken out of the floors before a line is laid through them: the
// week's shape and lone steps. Times are in days (24 × LeakSettings::hour_ms) before the end of the series, so <= 0.
// Pure.

#include <span>
#include <vector>

#include "analysis/leak/statistics.h"

namespace memoir {

// A bucket on the analysis' own time axis.
struct LeakHour {
  double begin = 0;  // days
  double end = 0;
  double min = 0;
  double mean = 0;
  double max = 0;
};

// The part of a life that is judged: its last `days`.
struct LeakWindow {
  double days = 0;
  double block = 0;  // width of a block, days
};

// Up to so many days the phases of the day are compared, too.
inline constexpr std::size_t kFewBlocks = 14;

// Blocks of a day where the window holds five of them, else a twelfth of the window.
LeakWindow make_window(double days);

// The buckets that begin in the last `days`.
std::span<const LeakHour> last_days(std::span<const LeakHour> hours, double days);

// The soft floor of each block: the mean of the lower half (or `lowest` part) of its buckets' minima, which a single
// low reading does not move as it moves the plain minimum. Blocks end where the series ends; blocks less than half full
// are left out. `day` is the middle of the block.
std::vector<TimedValue> soft_floors(std::span<const LeakHour> hours, const LeakWindow& window, double lowest = 0.5);

// The mean of each block, with the same blocks left out.
std::vector<TimedValue> block_means(std::span<const LeakHour> hours, const LeakWindow& window);

// Floors of an eighth of a day, the hour of the day as the stratum: where days are few, the same hour of different days
// says more than the day's one floor.
std::vector<TimedValue> phase_floors(std::span<const LeakHour> hours, double days);

// Takes the weekday's usual distance from the trend out of daily floors, if the week explains half of what is left
// beside the trend. Needs two weeks. True if it did.
bool take_out_week(std::vector<TimedValue>& floors);

struct LeakStep {
  double day = 0;  // of the first floor after it
  double by = 0;
};

// The floors with steps put back that were taken out of them; and floors with them taken out.
std::vector<TimedValue> put_back(std::vector<TimedValue> floors, std::span<const LeakStep> steps);
std::vector<TimedValue> without(std::vector<TimedValue> floors, std::span<const LeakStep> steps);

// Takes lone jumps out: increments far off the others (6 deviations) and more than 2 % of the level, if they are at
// most four, and a quarter of all, and make 30 % of all movement. Later floors are shifted back by them. More jumps
// than that are how it grows.
std::vector<LeakStep> take_out_steps(std::vector<TimedValue>& floors);

// Jumps of daily floors are found among the hours, where one stands out of the noise that a day holds: the median of
// six hours' minima against that of the six before, if a day later half of it is still there. Of a whole life; empty
// for one under two days.
std::vector<LeakStep> edges_of(std::span<const LeakHour> hours);

// Takes the edges that fall into the floors out, under the same limits of number. What was taken out.
std::vector<LeakStep> take_out_edges(std::span<const LeakStep> edges, std::vector<TimedValue>& floors);

}  // namespace memoir
