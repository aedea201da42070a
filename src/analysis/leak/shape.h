#pragma once

// Shapes of growth that is not a leak: a curve that levels off, a height that was reached before, the day's rise. Pure;
// times in days before the end of the series.

#include <optional>
#include <span>

#include "analysis/leak/floor.h"

namespace memoir {

struct Straightness {
  double curve_to_line = 1;  // squared error of the best curve that levels off, to that of the line; 1 without curve
  double end_slope = 1;      // of that curve at its end, of its mean slope
  double second_half = 1;    // slope of the life's second half, of its whole slope
};

// Of the floors of a whole life, against a + b·ln(1 + t/τ) and a + b·(1 − e^(−t/τ)) on a grid of τ.
Straightness straightness_of(std::span<const LeakHour> life, double life_days);

// The floor now, to the highest floor (98th percentile) of the life before the window.
double novelty_of(std::span<const LeakHour> life, const LeakWindow& window);

// The share of the window's buckets whose minimum is above that of the same hour on the day before.
double share_above_yesterday(std::span<const LeakHour> life, double window_days);

// When the growth began, if floors that are level until then and rise from there on fit twice as well as one line
// (squared error). At least five floors are left after it.
std::optional<double> onset_of(std::span<const TimedValue> floors);

}  // namespace memoir
