#include "analysis/leak/statistics.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace memoir {

namespace {

constexpr double kNinetyPercent = 1.645;  // two-sided 90 % quantile of the normal distribution
constexpr double kNormalMad = 1.4826;
constexpr std::size_t kMinForAutocorrelation = 10;
constexpr double kSignificantCorrelation = 1.645;
constexpr double kMinLongRunVariance = 0.06;

// Returns the ranks of the values; equal values share their mean rank.
std::vector<double> ranks_of(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&values](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin + 1;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    const double rank = 0.5 * static_cast<double>(begin + end - 1);
    for (std::size_t at = begin; at < end; ++at) ranks[order[at]] = rank;
    begin = end;
  }
  return ranks;
}

// Returns the factor of Hamed and Rao, which widens the variance for significant positive autocorrelations.
double variance_factor(std::span<const TimedValue> points) {
  const std::size_t n = points.size();
  if (n < kMinForAutocorrelation) return 1;
  std::vector<double> ranks = ranks_of(off_line(points, sen_slope(points)));
  const double centre = mean_of(ranks);
  double squares = 0;
  for (double& rank : ranks) {
    rank -= centre;
    squares += rank * rank;
  }
  if (squares <= 0) return 1;
  const auto count = static_cast<double>(n);
  double sum = 0;
  for (std::size_t lag = 1; lag <= n / 3; ++lag) {
    double product = 0;
    for (std::size_t at = lag; at < n; ++at) product += ranks[at] * ranks[at - lag];
    const double correlation = product / squares;
    if (correlation <= kSignificantCorrelation / std::sqrt(count)) continue;
    const auto l = static_cast<double>(lag);
    sum += (count - l) * (count - l - 1) * (count - l - 2) * correlation;
  }
  return 1 + 2 / (count * (count - 1) * (count - 2)) * sum;
}

std::vector<double> pair_slopes(std::span<const TimedValue> points) {
  std::vector<double> slopes;
  for (std::size_t later = 1; later < points.size(); ++later) {
    for (std::size_t earlier = 0; earlier < later; ++earlier) {
      const TimedValue& a = points[earlier];
      const TimedValue& b = points[later];
      if (a.stratum == b.stratum && b.day > a.day) slopes.push_back((b.value - a.value) / (b.day - a.day));
    }
  }
  return slopes;
}

}  // namespace

double quantile_of(std::vector<double> values, double part) {
  const double place = part * static_cast<double>(values.size() - 1);
  const auto low = static_cast<std::ptrdiff_t>(place);
  std::nth_element(values.begin(), values.begin() + low, values.end());
  const double below = values[static_cast<std::size_t>(low)];
  const double rest = place - static_cast<double>(low);
  if (rest <= 0) return below;
  return below + rest * (*std::min_element(values.begin() + low + 1, values.end()) - below);
}

double median_of(std::vector<double> values) {
  return quantile_of(std::move(values), 0.5);
}

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double robust_deviation(std::span<const double> values) {
  if (values.empty()) return 0;
  const double centre = median_of({values.begin(), values.end()});
  return kNormalMad * median_of(transformed(values, [centre](double value) { return std::abs(value - centre); }));
}

TrendTest mann_kendall(std::span<const TimedValue> points, double tie) {
  std::map<int, std::vector<TimedValue>> strata;
  for (const TimedValue& point : points) strata[point.stratum].push_back(point);
  TrendTest test;
  double deviation = 0;  // deviations of fully correlated strata are added up
  for (const auto& [stratum, members] : strata) {
    for (std::size_t later = 1; later < members.size(); ++later) {
      for (std::size_t earlier = 0; earlier < later; ++earlier) {
        const double difference = members[later].value - members[earlier].value;
        if (std::abs(difference) > tie) test.s += difference > 0 ? 1 : -1;
      }
    }
    const auto n = static_cast<double>(members.size());
    deviation += std::sqrt(n * (n - 1) * (2 * n + 5) / 18 * variance_factor(members));
  }
  test.variance = deviation * deviation;
  const double continuity = static_cast<double>(strata.size());
  if (deviation > 0 && std::abs(test.s) > continuity) {
    test.z = (test.s - std::copysign(continuity, test.s)) / deviation;
  }
  return test;
}

std::optional<SlopeEstimate> theil_sen(std::span<const TimedValue> points, const TrendTest& trend, double widen) {
  std::vector<double> slopes = pair_slopes(points);
  if (slopes.empty()) return std::nullopt;
  std::sort(slopes.begin(), slopes.end());
  const double last = static_cast<double>(slopes.size() - 1);
  const double half = widen * kNinetyPercent * std::sqrt(trend.variance) / 2;
  const auto at = [&slopes, last](double rank) {
    const double place = std::clamp(rank, 0.0, last);
    const auto low = static_cast<std::size_t>(place);
    const std::size_t high = std::min(low + 1, slopes.size() - 1);
    return slopes[low] + (place - static_cast<double>(low)) * (slopes[high] - slopes[low]);
  };
  SlopeEstimate estimate;
  estimate.per_day = at(last / 2);
  estimate.lower = at(last / 2 - half);
  estimate.upper = at(last / 2 + half);
  estimate.intercept = median_of(off_line(points, estimate.per_day));
  return estimate;
}

double sen_slope(std::span<const TimedValue> points) {
  std::vector<double> slopes = pair_slopes(points);
  return slopes.empty() ? 0 : median_of(std::move(slopes));
}

std::vector<double> off_line(std::span<const TimedValue> points, double per_day, double intercept) {
  return transformed(points, [&](const TimedValue& point) { return point.value - intercept - per_day * point.day; });
}

double drift_score(std::span<const double> values) {
  if (values.size() < 3) return 0;
  const std::size_t n = values.size() - 1;
  std::vector<double> increments(n);
  for (std::size_t at = 0; at < n; ++at) increments[at] = values[at + 1] - values[at];
  const double mean = mean_of(increments);
  const auto covariance = [&increments, mean, n](std::size_t lag) {
    double sum = 0;
    for (std::size_t at = lag; at < n; ++at) sum += (increments[at] - mean) * (increments[at - lag] - mean);
    return sum / static_cast<double>(n);
  };
  const double plain = covariance(0);
  const auto lags = static_cast<std::size_t>(std::cbrt(static_cast<double>(n)));
  double variance = plain;
  for (std::size_t lag = 1; lag <= lags; ++lag) {
    const double weight = 1 - static_cast<double>(lag) / static_cast<double>(lags + 1);
    variance += 2 * weight * covariance(lag);
  }
  variance = std::max(variance, kMinLongRunVariance * plain);
  constexpr double exact = 99;  // the score of a straight line, which has no variance
  if (variance <= 0) return mean == 0 ? 0 : std::copysign(exact, mean);
  return std::clamp(mean / std::sqrt(variance / static_cast<double>(n)), -exact, exact);
}

double return_score(std::span<const TimedValue> points) {
  if (points.size() < 5) return 0;
  std::vector<double> off = off_line(points, sen_slope(points));
  const double centre = mean_of(off);
  for (double& value : off) value -= centre;
  double squares = 0;
  double product = 0;
  double movement = 0;
  for (std::size_t at = 1; at < off.size(); ++at) {
    const double step = off[at] - off[at - 1];
    squares += off[at - 1] * off[at - 1];
    product += off[at - 1] * step;
    movement += step * step;
  }
  if (squares <= 0) return 0;
  const double rest = std::max(movement - product * product / squares, 0.0) / static_cast<double>(points.size() - 2);
  return rest > 0 ? -product / std::sqrt(squares * rest) : 0;
}

double residual_squares(std::span<const double> x, std::span<const double> y) {
  const double mean_x = mean_of(x);
  const double mean_y = mean_of(y);
  double xx = 0;
  double xy = 0;
  double yy = 0;
  for (std::size_t at = 0; at < x.size(); ++at) {
    xx += (x[at] - mean_x) * (x[at] - mean_x);
    xy += (x[at] - mean_x) * (y[at] - mean_y);
    yy += (y[at] - mean_y) * (y[at] - mean_y);
  }
  return std::max(0.0, xx > 0 ? yy - xy * xy / xx : yy);
}

}  // namespace memoir
