#pragma once

// Shapes of growth that is not a leak: a saturating curve, a level that was reached before, the daily rise. Pure; times
// are in days relative to the end of the series, so <= 0.

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

// Returns the current floor relative to the highest floor (98th percentile) in the part of the life before the window.
double novelty_of(std::span<const LeakHour> life, const LeakWindow& window);

// Returns the median rise of the window's hourly minima since the same hours of the day before; 0 if the day before was
// not recorded at any of these hours.
double rise_since_yesterday(std::span<const LeakHour> life, double window_days);

// Returns the start of the growth: a time before which floors are level and after which they rise. Such a shape must
// fit twice as well as one line (squared error), and at least five floors must follow the start. Otherwise nullopt.
std::optional<double> onset_of(std::span<const TimedValue> floors);

}  // namespace memoir
