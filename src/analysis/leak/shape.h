#pragma once

// Shapes of growth that is not a leak: a saturating curve, a height reached before, the daily rise. Pure; times in days
// before the end of the series.

#include <optional>
#include <span>

#include "analysis/leak/floor.h"

namespace memoir {

struct Straightness {
  double curve_to_line = 1;  // squared error of the best saturating curve relative to that of the line; 1 without a
                             // curve
  double end_slope = 1;      // slope at the end of that curve, relative to its mean slope
  double second_half = 1;    // slope of the life's second half, relative to its whole slope
};

// Fits a + b·ln(1 + t/τ) and a + b·(1 − e^(−t/τ)) to the floors of a whole life, on a grid of τ.
Straightness straightness_of(std::span<const LeakHour> life, double life_days);

// Returns the current floor relative to the highest floor (98th percentile) of the life before the window.
double novelty_of(std::span<const LeakHour> life, const LeakWindow& window);

// Returns how much higher the minima of the window's buckets are than those of the same hours on the day before
// (median); 0 without such hours.
double rise_since_yesterday(std::span<const LeakHour> life, double window_days);

// Returns the start of the growth, if floors that are level before and rise after it fit twice as well as one line
// (squared error). At least five floors follow it.
std::optional<double> onset_of(std::span<const TimedValue> floors);

}  // namespace memoir
