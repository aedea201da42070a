#include "analysis/leak/shape.h"

#include <algorithm>
#include <cmath>

#include "analysis/leak/statistics.h"

namespace memoir {

namespace {

constexpr double kHingeFits = 0.5;
constexpr double kHighest = 0.98;

struct Curve {
  double squares = 0;
  double end_slope = 1;  // slope at the end, relative to the mean slope
};

Curve best_curve(std::span<const double> t, std::span<const double> y, double span) {
  Curve best{residual_squares(t, y), 1};
  std::vector<double> x(t.size());
  // Tries time constants from a 64th of the span up to all of it, in steps of a factor of √2.
  constexpr int finest = 12;
  for (int step = finest; step >= 0; --step) {
    const double tau = span * std::exp2(-step / 2.0);
    for (const bool logarithm : {true, false}) {
      const auto height = [&](double at) { return logarithm ? std::log1p(at / tau) : -std::expm1(-at / tau); };
      for (std::size_t at = 0; at < t.size(); ++at) x[at] = height(t[at]);
      const double squares = residual_squares(x, y);
      if (squares >= best.squares) continue;
      const double steepness = logarithm ? 1 / (span + tau) : std::exp(-span / tau) / tau;
      best = {squares, steepness / ((x.back() - x.front()) / (t.back() - t.front()))};
    }
  }
  return best;
}

double second_half_of(std::span<const TimedValue> points, double life_days) {
  const auto second = std::find_if(points.begin(), points.end(),
                                   [life_days](const TimedValue& point) { return point.day >= -life_days / 2; });
  const double whole = sen_slope(points);
  return whole > 0 ? sen_slope(points.subspan(static_cast<std::size_t>(second - points.begin()))) / whole : 0;
}

}  // namespace

Straightness straightness_of(std::span<const LeakHour> life, double life_days) {
  std::vector<TimedValue> floors = soft_floors(life, make_window(life_days));
  if (floors.size() < 5) return {};
  remove_weekly_pattern(floors);
  const std::vector<double> t = transformed(floors, [=](const TimedValue& floor) { return floor.day + life_days; });
  const std::vector<double> y = transformed(floors, &TimedValue::value);
  const double line = residual_squares(t, y);
  Straightness straight;
  const Curve curve = best_curve(t, y, life_days);
  if (line > 0) straight.curve_to_line = curve.squares / line;
  straight.end_slope = curve.end_slope;
  const bool few = make_window(life_days).block >= 1 && floors.size() <= kFewBlocks;
  straight.second_half = second_half_of(few ? phase_floors(life, life_days) : floors, life_days);
  return straight;
}

double novelty_of(std::span<const LeakHour> life, const LeakWindow& window) {
  const auto inside = last_days(life, window.days);
  const auto before = life.first(life.size() - inside.size());
  if (before.empty() || inside.empty()) return 0;
  const LeakWindow whole{-life.front().begin, window.block};
  std::vector<double> earlier;
  double now = 0;
  for (const TimedValue& floor : soft_floors(life, whole)) {
    if (floor.day < -window.days) earlier.push_back(floor.value);
    now = floor.value;
  }
  if (earlier.empty()) return 0;
  const double highest = quantile_of(std::move(earlier), kHighest);
  return highest > 0 ? now / highest : 0;
}

double rise_since_yesterday(std::span<const LeakHour> life, double window_days) {
  const auto inside = last_days(life, window_days);
  std::vector<double> rises;
  auto yesterday = life.begin();
  for (const LeakHour& hour : inside) {
    const double middle = 0.5 * (hour.begin + hour.end) - 1;
    while (yesterday != life.end() && yesterday->end <= middle) ++yesterday;
    if (yesterday == life.end() || yesterday->begin > middle) continue;
    rises.push_back(hour.min - yesterday->min);
  }
  return rises.empty() ? 0 : median_of(std::move(rises));
}

std::optional<double> onset_of(std::span<const TimedValue> floors) {
  constexpr std::size_t min_after = 5;
  constexpr std::size_t min_before = 3;
  const std::vector<double> y = transformed(floors, &TimedValue::value);
  std::vector<double> x = transformed(floors, &TimedValue::day);
  double best = kHingeFits * residual_squares(x, y);
  std::optional<double> onset;
  for (std::size_t knot = min_before; knot + min_after <= floors.size(); ++knot) {
    for (std::size_t at = 0; at < x.size(); ++at) x[at] = std::max(0.0, floors[at].day - floors[knot].day);
    const double squares = residual_squares(x, y);
    if (squares >= best) continue;
    best = squares;
    onset = floors[knot].day;
  }
  return onset;
}

}  // namespace memoir
