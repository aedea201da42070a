#pragma once

// The robust statistics that leak analysis is made of. Pure; times are in days, values in any one unit.

#include <optional>
#include <span>
#include <vector>

#include "base/each_of.h"

namespace memoir {

// A value at a time. `stratum`: only points of one stratum are compared with each other (the same hour of the day, or
// the same age within one life); 0 for all where there are none.
struct TimedValue {
  double day = 0;
  double value = 0;
  int stratum = 0;
};

// Of an unsorted sample that is not empty.
double median_of(std::vector<double> values);
double quantile_of(std::vector<double> values, double part);
double mean_of(std::span<const double> values);
// 1.4826 times the median absolute deviation: the standard deviation of a normal sample, whatever its outliers.
double robust_deviation(std::span<const double> values);

// Theil-Sen: the median of the slopes between every two points of one stratum. Sen (1968), "Estimates of the regression
// coefficient based on Kendall's tau", J. Am. Stat. Assoc. 63.
struct SlopeEstimate {
  double per_day = 0;
  double lower = 0;  // of the 90 % interval
  double upper = 0;
  double intercept = 0;  // value at day 0
};

// Kendall's S with the variance that autocorrelation leaves. Mann (1945); Hamed and Rao (1998), "A modified
// Mann-Kendall trend test for autocorrelated data", J. Hydrology 204. With strata: Hirsch and Slack (1984), the strata
// taken as fully correlated, the most careful case.
struct TrendTest {
  double s = 0;
  double variance = 0;
  double z = 0;
};

// Differences of at most `tie` count as none. Positive autocorrelation widens the variance from 10 points on.
TrendTest mann_kendall(std::span<const TimedValue> points, double tie);

// The interval has the ranks that `trend` gives, `widen` times as wide. Nothing where no two points can be compared.
std::optional<SlopeEstimate> theil_sen(std::span<const TimedValue> points, const TrendTest& trend, double widen);
// The slope alone; 0 where no two points can be compared.
double sen_slope(std::span<const TimedValue> points);
// How far each point is above the line.
std::vector<double> off_line(std::span<const TimedValue> points, double per_day, double intercept = 0);

// How surely the mean of the increments is not 0, in its standard errors: a random walk's increments have none, however
// far it strays. Their long-run variance is Bartlett's (Newey and West 1987, Econometrica 55), at least 15 % of the
// plain one, for that of an oscillation tends to 0. 0 for fewer than 3 points.
double drift_score(std::span<const double> values);

// Least squares: the sum of squared residuals of y against x with a constant.
double residual_squares(std::span<const double> x, std::span<const double> y);

}  // namespace memoir
