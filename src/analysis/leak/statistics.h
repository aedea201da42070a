#pragma once

// Robust statistics for the leak analysis. Pure; times are in days, values in any one unit.

#include <optional>
#include <span>
#include <vector>

#include "base/transformed.h"

namespace memoir {

// A value at a time. Only points with the same `stratum` are compared, for example points at the same time of day, or
// points of the same life. Without strata, it is 0 for all points.
struct TimedValue {
  double day = 0;
  double value = 0;
  int stratum = 0;
};

// Median of an unsorted, non-empty sample.
double median_of(std::vector<double> values);
double quantile_of(std::vector<double> values, double part);
double mean_of(std::span<const double> values);
// Returns 1.4826 times the median absolute deviation, which is the standard deviation of a normal sample and
// insensitive to outliers.
double robust_deviation(std::span<const double> values);

// Theil-Sen: the median of the slopes between any two points of one stratum. Sen (1968), "Estimates of the regression
// coefficient based on Kendall's tau", J. Am. Stat. Assoc. 63.
struct SlopeEstimate {
  double per_day = 0;
  double lower = 0;  // lower and upper end of the 90 % interval
  double upper = 0;
  double intercept = 0;  // value at day 0
};

// Kendall's S, with its variance corrected for autocorrelation. Mann (1945); Hamed and Rao (1998), "A modified
// Mann-Kendall trend test for autocorrelated data", J. Hydrology 204. With strata: Hirsch and Slack (1984). Strata are
// assumed to be fully correlated, which is the most conservative case.
struct TrendTest {
  double s = 0;
  double variance = 0;
  double z = 0;
};

// Differences of at most `tie` count as ties. From 10 points on, positive autocorrelation widens the variance.
TrendTest mann_kendall(std::span<const TimedValue> points, double tie);

// Returns the slope with the interval that `trend` determines by rank, widened by the factor `widen`. nullopt if no two
// points can be compared.
std::optional<SlopeEstimate> theil_sen(std::span<const TimedValue> points, const TrendTest& trend, double widen);
// Returns only the slope; 0 if no two points can be compared.
double sen_slope(std::span<const TimedValue> points);
// Returns each point's distance above the line.
std::vector<double> off_line(std::span<const TimedValue> points, double per_day, double intercept = 0);

// Returns the mean of the increments in units of its standard error; 0 for fewer than 3 points. The increments of a
// random walk have mean 0, however far it strays. Their long-run variance is estimated with Bartlett weights (Newey and
// West 1987, Econometrica 55). At least 6 % of the plain variance is used, because the estimate for an oscillation
// tends to 0.
double drift_score(std::span<const double> values);

// Returns how certainly the points return to their line after a deviation: the t of Dickey and Fuller, with a positive
// sign. A random walk exceeds 3.6 in one of twenty cases, and 4.4 in one of a hundred.
double return_score(std::span<const TimedValue> points);

// Returns the sum of squared residuals of y, fitted by least squares to x and a constant.
double residual_squares(std::span<const double> x, std::span<const double> y);

}  // namespace memoir
