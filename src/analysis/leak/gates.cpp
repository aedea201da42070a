#include "analysis/leak/gates.h"

#include <algorithm>
#include <cmath>

namespace memoir {

namespace {

constexpr std::size_t kLeastBlocks = 5;
constexpr double kTrend = 2.6;
constexpr double kTrendFew = 2.0;
constexpr std::size_t kFew = 8;
constexpr double kDrift = 2.5;
constexpr double kDriftFew = 2.0;
constexpr double kDriftPart = 3.0;  // a walk has more chances to stray in some part of a life
constexpr double kScatters = 3;
constexpr double kLate = 0.4;
constexpr double kFallBack = 0.25;
constexpr double kStraight = 0.6;
constexpr double kEndSlope = 0.45;
constexpr double kSecondHalf = 0.75;
constexpr double kSecondHalfFew = 0.5;
constexpr double kAlike = 0.1;
constexpr double kLowest = 0.125;
constexpr double kBottom = 0.4;
constexpr double kNovelty = 1.02;
constexpr double kDiurnal = 0.9;

double level_of(std::span<const TimedValue> floors) {
  return median_of(each_of(floors, [](const TimedValue& floor) { return std::abs(floor.value); }));
}

double tie_of(double level, const LeakMetric& metric) {
  constexpr double tie_share = 0.001;
  constexpr double tie_of_least = 1.0 / 128;  // 32 KiB of 4 MiB
  return std::max(metric.unit == LeakUnit::count ? 0.5 : metric.least_growth * tie_of_least, tie_share * level);
}

class Judge {
 public:
  Judge(const LeakLife& life, double window_days, const LeakMetric& metric)
      : life_(life), inside_(last_days(life.hours, window_days)), metric_(metric) {
    found_.window = make_window(window_days);
  }

  std::optional<WindowFinding> judge() {
    found_.recorded = soft_floors(inside_, found_.window);
    if (found_.recorded.size() < kLeastBlocks) return std::nullopt;
    found_.floors = found_.recorded;
    const bool daily = found_.window.block >= 1;
    if (daily) found_.week = take_out_week(found_.floors);
    if (daily) found_.steps = take_out_edges(life_.edges, found_.floors);
    if (found_.steps.empty()) found_.steps = take_out_steps(found_.floors);
    level_ = level_of(found_.floors);
    find_trend(daily);
    find_growth();
    find_shape(daily);
    found_.told = told_slope(daily);
    return found_;
  }

 private:
  void gate(Gate which, std::string name, double value, double threshold, std::string meaning) {
    const bool passed = value >= threshold;
    found_.gates.push_back({std::move(name), value, threshold, passed, std::move(meaning)});
    if (!passed) found_.failed.push_back(which);
  }

  void find_trend(bool daily) {
    points_ = found_.floors;
    if (daily && points_.size() <= kFewBlocks) {
      points_ = phase_floors(inside_, found_.window.days);
      shift_as_floors(points_);
    }
    const std::vector<TimedValue>& points = points_;
    const TrendTest trend = mann_kendall(points, tie_of(level_, metric_));
    few_ = found_.floors.size() <= kFew && found_.window.days >= life_.days;
    gate(Gate::trend, "trend", trend.z, few_ ? kTrendFew : kTrend,
         "the floors go up more often than chance lets them (Mann-Kendall Z, widened by autocorrelation)");
    gate(Gate::drift, "drift", drift_score(each_of(found_.floors, &TimedValue::value)),
         few_                              ? kDriftFew
         : found_.window.days < life_.days ? kDriftPart
                                           : kDrift,
         "their steps have a mean above 0, as those of a random walk have not (in standard errors)");
    found_.slope = theil_sen(points, trend, kWiden).value_or(SlopeEstimate{});
    const double half = (found_.slope.per_day - found_.slope.lower) / kWiden;
    gate(Gate::slope, "slope", found_.slope.per_day - half, 0,
         "the lower end of the slope's interval is above 0, per day");
  }

  // The same steps out of the finer floors.
  void shift_as_floors(std::vector<TimedValue>& points) const {
    for (const LeakStep& step : found_.steps) {
      for (TimedValue& point : points) {
        if (point.day >= step.day - found_.window.block / 2) point.value -= step.by;
      }
    }
  }

  std::span<const TimedValue> points_since(double day) const {
    const auto first = std::find_if(points_.begin(), points_.end(), [&](const TimedValue& point) {
      return point.day >= day - found_.window.block / 2;
    });
    return std::span(points_).subspan(static_cast<std::size_t>(first - points_.begin()));
  }

  void find_growth() {
    const std::vector<TimedValue>& floors = found_.floors;
    const double span = floors.back().day - floors.front().day;
    found_.growth = found_.slope.per_day * span;
    found_.scatter = robust_deviation(off_line(floors, found_.slope.per_day, found_.slope.intercept));
    gate(Gate::effect, "effect", found_.growth, least_growth(metric_, level_, found_.scatter),
         "the growth matters, and stands out of the scatter of the floors");
    if (found_.slope.per_day > 0) {
      gate(Gate::bottom, "bottom", bottom_slope() / found_.slope.per_day, kBottom,
           "the lowest readings of the blocks rise too, by this part of the floors' slope");
    }
    const std::size_t third = std::max<std::size_t>(floors.size() / 3, 3);
    const bool phases = points_.size() > floors.size();
    const double late = sen_slope(phases ? points_since(floors[floors.size() - std::max<std::size_t>(third, 4)].day)
                                         : std::span(floors).last(third));
    found_.late = found_.slope.per_day > 0 ? late / found_.slope.per_day : 0;
    const double highest = std::ranges::max_element(floors, {}, &TimedValue::value)->value;
    const bool at_top = floors.back().value >= highest - kFallBack * found_.growth - 2 * found_.scatter;
    const bool fell = found_.window.days >= life_.days && life_.straight.second_half <= 0;
    gate(Gate::growing, "growing", at_top && !fell ? found_.late : 0, kLate,
         "its last third still grows, by this part of the whole slope, and it has not come down");
  }

  // The noise of a floor is cut off at one side, and where noise is a share of the level, the floors rise less than the
  // means. Where means rise otherwise (wider swings, more load), the floors are what leaks.
  SlopeEstimate told_slope(bool daily) const {
    std::vector<TimedValue> means = without(block_means(inside_, found_.window), found_.steps);
    if (daily) take_out_week(means);
    const TrendTest trend = mann_kendall(means, tie_of(level_, metric_));
    const SlopeEstimate told = theil_sen(means, trend, kWiden).value_or(found_.slope);
    return std::abs(told.per_day - found_.slope.per_day) <= kAlike * std::abs(found_.slope.per_day) ? told
                                                                                                    : found_.slope;
  }

  double bottom_slope() const {
    std::vector<TimedValue> bottoms = soft_floors(inside_, found_.window, kLowest);
    return sen_slope(without(std::move(bottoms), found_.steps));
  }

  // A better fit of a curve that levels off is no reason to let go what rises still.
  void find_straight() {
    const Straightness& straight = life_.straight;
    if (straight.curve_to_line >= kStraight) {
      gate(Gate::straight, "straight", straight.curve_to_line, kStraight,
           "a curve that levels off fits the whole life not much better than a line (squared error, curve to line)");
    } else if (straight.end_slope >= kEndSlope) {
      gate(Gate::straight, "straight", straight.end_slope, kEndSlope,
           "the curve that fits the whole life best still rises at its end (part of its mean slope)");
    } else {
      gate(Gate::straight, "straight", straight.second_half, few_ ? kSecondHalfFew : kSecondHalf,
           "though a curve that levels off fits the life best, its second half rises on (part of the whole slope)");
    }
  }

  void find_shape(bool daily) {
    find_straight();
    if (found_.window.days < life_.days) {
      gate(Gate::novelty, "novelty", novelty_of(life_.hours, found_.window), kNovelty,
           "it is higher than in the life before the window (times the highest floor there)");
    }
    if (!daily && life_.days >= 2) {
      gate(Gate::diurnal, "diurnal", share_above_yesterday(life_.hours, found_.window.days), kDiurnal,
           "hours are above the same hour of the day before (share of them)");
    }
  }

  const LeakLife& life_;
  std::span<const LeakHour> inside_;
  const LeakMetric& metric_;
  double level_ = 0;
  bool few_ = false;  // the whole life is short: less is asked
  std::vector<TimedValue> points_;
  WindowFinding found_;
};

}  // namespace

double least_growth(const LeakMetric& metric, double level, double scatter) {
  return std::max({metric.least_growth, metric.least_share * level, kScatters * scatter});
}

LeakLife make_life(std::span<const LeakHour> hours) {
  const double days = -hours.front().begin;
  return {hours, days, edges_of(hours), straightness_of(hours, days)};
}

std::optional<WindowFinding> judge_window(const LeakLife& life, double window_days, const LeakMetric& metric) {
  return Judge(life, window_days, metric).judge();
}

}  // namespace memoir
