#include "bench/leaks/baselines.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "analysis/leak/statistics.h"

namespace memoir::bench {

namespace {

constexpr double kMsOfDay = 86'400'000.0;
constexpr double kNoLeast = 1e-12;
constexpr double kNinetyPercent = 1.645;

using Points = std::vector<TimedValue>;

// Returns the means since the start of the last run, averaged into at most `most` points.
Points points_of(const LeakSeries& series, std::size_t most) {
  Points points;
  if (series.buckets.empty()) return points;
  const auto first = std::find_if(series.buckets.begin(), series.buckets.end(),
                                  [&](const LeakBucket& bucket) { return bucket.life == series.buckets.back().life; });
  const auto count = static_cast<std::size_t>(series.buckets.end() - first);
  const std::size_t per = (count + most - 1) / most;
  for (std::size_t at = 0; at + per <= count; at += per) {
    TimedValue point;
    for (std::size_t of = at; of < at + per; ++of) {
      const LeakBucket& bucket = first[static_cast<std::ptrdiff_t>(of)];
      point.day += static_cast<double>(bucket.from_ms - first->from_ms) / kMsOfDay / static_cast<double>(per);
      point.value += bucket.mean / static_cast<double>(per);
    }
    points.push_back(point);
  }
  return points;
}

struct Line {
  double slope = 0;
  double intercept = 0;
  double r2 = 0;
};

Line least_squares(std::span<const TimedValue> points) {
  double x = 0, y = 0;
  for (const TimedValue& point : points) {
    x += point.day;
    y += point.value;
  }
  const auto n = static_cast<double>(points.size());
  x /= n;
  y /= n;
  double xx = 0, xy = 0, yy = 0;
  for (const TimedValue& point : points) {
    xx += (point.day - x) * (point.day - x);
    xy += (point.day - x) * (point.value - y);
    yy += (point.value - y) * (point.value - y);
  }
  if (xx <= 0 || yy <= 0) return {0, y, 0};
  return {xy / xx, y - xy / xx * x, xy * xy / (xx * yy)};
}

std::span<const TimedValue> last(const Points& points, double days) {
  const auto first = std::find_if(points.begin(), points.end(),
                                  [&](const TimedValue& point) { return point.day >= points.back().day - days; });
  return std::span(points).subspan(static_cast<std::size_t>(first - points.begin()));
}

// Returns whether the series passes a one-sided Mann-Kendall test at 5 %, and grows by at least `min_share` of its
// level. Uses the textbook variance, or Hamed and Rao's if `autocorrelated`.
bool rises(const LeakSeries& series, bool autocorrelated, double min_share) {
  constexpr double kFivePercent = 1.645;
  const Points points = points_of(series, 180);
  if (points.size() < 10) return false;
  const TrendTest test = mann_kendall(points, kNoLeast);
  const auto n = static_cast<double>(points.size());
  const double variance = autocorrelated ? test.variance : n * (n - 1) * (2 * n + 5) / 18;
  if ((test.s - 1) / std::sqrt(variance) < kFivePercent) return false;
  if (min_share <= 0) return true;
  std::vector<double> values;
  for (const TimedValue& point : points) values.push_back(point.value);
  return sen_slope(points) * (points.back().day - points.front().day) >= min_share * median_of(values);
}

// Returns whether a rising line explains 80 % of the variance in one of 20 suffixes of at least 6 hours.
bool fits_line(const LeakSeries& series) {
  const Points points = points_of(series, 2000);
  if (points.size() < 10) return false;
  for (int part = 20; part >= 1; --part) {
    const double days = points.back().day * part / 20;
    if (days < 0.25) break;
    const Line line = least_squares(last(points, days));
    if (line.slope > 0 && line.r2 >= 0.8) return true;
  }
  return false;
}

// Returns the time from the end of the line until it reaches the limit; nullopt beyond `to_days`. The interval follows
// from the error of the slope.
std::optional<LeakInterval> reaches(const Line& line, double error, double end_day, double limit, double to_days) {
  const double room = std::max(0.0, limit - line.intercept - line.slope * end_day);
  const auto in_ms = [room](double slope) { return slope > 0 ? room / slope * kMsOfDay : HUGE_VAL; };
  if (line.slope <= 0 || in_ms(line.slope) > to_days * kMsOfDay) return std::nullopt;
  return LeakInterval{in_ms(line.slope), in_ms(line.slope + error), in_ms(line.slope - error)};
}

std::optional<LeakInterval> predicts(const LeakSeries& series, double limit, double from_days, double to_days) {
  const Points points = points_of(series, 2000);
  if (points.size() < 10) return std::nullopt;
  return reaches(least_squares(last(points, from_days)), 0, points.back().day, limit, to_days);
}

// Forecasts with least squares and the textbook interval of the slope. As in Memoir, the horizon is ten times the
// observed time.
std::optional<LeakInterval> fits(const LeakSeries& series, double limit, double from_days) {
  const Points points = points_of(series, 2000);
  if (points.size() < 10) return std::nullopt;
  const auto part = last(points, from_days);
  const Line line = least_squares(part);
  if (line.r2 <= 0) return std::nullopt;
  const double error =
      kNinetyPercent * std::abs(line.slope) * std::sqrt((1 / line.r2 - 1) / static_cast<double>(part.size() - 2));
  if (line.slope <= error) return std::nullopt;
  return reaches(line, error, points.back().day, limit, 10 * (part.back().day - part.front().day));
}

std::optional<LeakInterval> fits_theil_sen(const LeakSeries& series, double limit) {
  const Points points = points_of(series, 180);
  if (points.size() < 10) return std::nullopt;
  TrendTest trend = mann_kendall(points, kNoLeast);
  const auto n = static_cast<double>(points.size());
  trend.variance = n * (n - 1) * (2 * n + 5) / 18;
  const std::optional<SlopeEstimate> slope = theil_sen(points, trend, 1);
  if (!slope || slope->lower <= 0) return std::nullopt;
  return reaches({slope->per_day, slope->intercept, 0}, (slope->upper - slope->lower) / 2, points.back().day, limit,
                 10 * points.back().day);
}

// Precog's rule without its test for seasons. The training data is the history before the longest suffix that fits.
bool precog(const LeakSeries& series, double limit, bool beyond_maximum) {
  const Points points = points_of(series, 2000);
  if (points.size() < 10 || points.back().value < 0.4 * limit) return false;
  for (int part = 100; part >= 1; --part) {
    const double days = points.back().day * part / 100;
    if (days < 0.25) break;
    const auto suffix = last(points, days);
    const Line line = least_squares(suffix);
    if (line.slope <= 0 || line.r2 <= 0.8) continue;
    if ((limit - points.back().value) / line.slope > 7) return false;
    const auto training = std::span(points).first(points.size() - suffix.size());
    double highest = 0;
    double steepest = 0;
    for (std::size_t at = 0; at < training.size(); ++at) {
      highest = std::max(highest, training[at].value);
      if (at >= 24) steepest = std::max(steepest, least_squares(training.subspan(at - 24, 24)).slope);
    }
    return line.slope > steepest && (!beyond_maximum || points.back().value > highest);
  }
  return false;
}

// Coroot's rule over the last day, which is split where usage falls by half. The last part must grow by at least 5 % of
// the limit per hour, without slowing down.
bool coroot(const LeakSeries& series, double limit) {
  const Points points = points_of(series, 2000);
  if (points.size() < 10) return false;
  auto day = last(points, 1);
  for (std::size_t at = 1; at < day.size(); ++at) {
    if (day[at].value < 0.5 * day[at - 1].value) {
      day = day.subspan(at);
      at = 0;
    }
  }
  if (day.size() < 8) return false;
  const Line whole = least_squares(day);
  const Line quarter = least_squares(day.last(day.size() / 4));
  return whole.slope > 0 && quarter.slope >= 0.3 * whole.slope && whole.slope / 24 >= 0.05 * limit;
}

Baseline forecasting(std::string name, Forecast forecast) {
  return {std::move(name),
          [forecast](const LeakSeries& series, double limit) { return forecast(series, limit).has_value(); }, forecast};
}

}  // namespace

const std::vector<Baseline>& baselines() {
  static const std::vector<Baseline> all{
      {"Mann-Kendall", [](const LeakSeries& series, double) { return rises(series, false, 0); }, {}},
      {"Mann-Kendall, Hamed-Rao", [](const LeakSeries& series, double) { return rises(series, true, 0); }, {}},
      {"Mann-Kendall, Hamed-Rao, 5 %", [](const LeakSeries& series, double) { return rises(series, true, 0.05); }, {}},
      {"line with R² >= 0.8", [](const LeakSeries& series, double) { return fits_line(series); }, {}},
      forecasting("predict_linear 6h, 24h",
                  [](const LeakSeries& series, double limit) { return predicts(series, limit, 0.25, 1); }),
      forecasting("predict_linear 24h, 7d",
                  [](const LeakSeries& series, double limit) { return predicts(series, limit, 1, 7); }),
      forecasting("predict_linear 7d, 30d",
                  [](const LeakSeries& series, double limit) { return predicts(series, limit, 7, 30); }),
      forecasting("least squares, 24 h", [](const LeakSeries& series, double limit) { return fits(series, limit, 1); }),
      forecasting("least squares, all",
                  [](const LeakSeries& series, double limit) { return fits(series, limit, 1e6); }),
      forecasting("Theil-Sen, all", fits_theil_sen),
      {"Precog", [](const LeakSeries& series, double limit) { return precog(series, limit, false); }, {}},
      {"PrecogMF", [](const LeakSeries& series, double limit) { return precog(series, limit, true); }, {}},
      {"Coroot", [](const LeakSeries& series, double limit) { return coroot(series, limit); }, {}},
  };
  return all;
}

}  // namespace memoir::bench
