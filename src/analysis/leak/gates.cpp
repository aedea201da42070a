#include "analysis/leak/gates.h"

#include <algorithm>
#include <cmath>

namespace memoir {

namespace {

constexpr std::size_t kMinBlocks = 5;
constexpr double kTrend = 2.6;
constexpr double kTrendFew = 2.0;
constexpr std::size_t kFew = 8;
constexpr double kDrift = 2.5;
constexpr double kDriftFew = 2.0;
constexpr double kDriftPart = 3.0;  // higher, because a random walk is more likely to stray in some part of a life
constexpr double kReturns = 4;
constexpr double kSureTrend = 5;
constexpr double kScatters = 3;
constexpr double kLate = 0.4;
constexpr double kLateByDay = 0.8;
constexpr double kFallBack = 0.25;
constexpr double kStraight = 0.6;
constexpr double kEndSlope = 0.45;
constexpr double kSecondHalf = 0.75;
constexpr double kSecondHalfFew = 0.5;
constexpr double kAlike = 0.1;
constexpr double kLowest = 0.125;
constexpr double kBottom = 0.4;
constexpr double kNovelty = 1.02;
constexpr double kDiurnal = 0.5;
constexpr double kHalfDay = 0.5;
constexpr double kMissed = 0.6;
constexpr double kMissedGrowing = 0.75;
constexpr double kOutweighs = 1.5;
constexpr double kWeek = 7;  // with fewer daily blocks, some weekdays are missing, and more evidence is needed

double level_of(std::span<const TimedValue> floors) {
  return median_of(transformed(floors, [](const TimedValue& floor) { return std::abs(floor.value); }));
}

double tie_of(double level, const LeakMetric& metric) {
  constexpr double tie_share = 0.001;
  constexpr double tie_of_least = 1.0 / 128;  // 32 KiB of 4 MiB
  return std::max(metric.unit == LeakUnit::count ? 0.5 : metric.min_growth * tie_of_least, tie_share * level);
}

class Judge {
 public:
  Judge(const LeakLife& life, double window_days, const LeakMetric& metric)
      : life_(life), inside_(last_days(life.hours, window_days)), metric_(metric) {
    found_.window = make_window(window_days);
  }

  std::optional<WindowFinding> judge() {
    found_.recorded = soft_floors(inside_, found_.window);
    if (found_.recorded.size() < kMinBlocks) return std::nullopt;
    found_.floors = found_.recorded;
    const bool daily = found_.window.block >= 1;
    if (daily) found_.week = remove_weekly_pattern(found_.floors);
    if (daily) found_.steps = take_out_edges(life_.edges, found_.floors);
    if (found_.steps.empty()) found_.steps = remove_steps(found_.floors);
    level_ = level_of(found_.floors);
    find_trend(daily);
    find_growth();
    find_shape(daily);
    if (few_) weigh_together();
    found_.nearly = std::ranges::all_of(found_.gates, [](const LeakGate& gate) {
      const bool strict = gate.threshold <= 0 || gate.name == "novelty" || gate.name == "growing";
      return gate.passed || (!strict && gate.value >= kNearly * gate.threshold);
    });
    found_.reported = reported_slope(daily);
    return found_;
  }

 private:
  void gate(Gate which, std::string name, double value, double threshold, std::string meaning) {
    const bool passed = value >= threshold;
    found_.gates.push_back({std::move(name), value, threshold, passed, std::move(meaning)});
    if (!passed) found_.failed.push_back(which);
  }

  // If there are few blocks, each gate has little evidence. A gate may then miss its threshold narrowly if the other
  // gates exceed theirs by at least as much.
  void weigh_together() {
    if (found_.passed()) return;
    const auto least = [](const LeakGate& gate) { return gate.name == "growing" ? kMissedGrowing : kMissed; };
    double sum = 0;
    double count = 0;
    for (const LeakGate& gate : found_.gates) {
      const bool strict = gate.threshold == 0 || gate.name == "effect";
      if (strict && !gate.passed) return;
      if (gate.threshold == 0) continue;
      const double ratio = gate.value / gate.threshold;
      if (ratio < least(gate)) return;
      sum += std::min(ratio, kOutweighs);
      ++count;
    }
    const double needed = std::max(kWeek / static_cast<double>(found_.floors.size()), 1.0);
    if (sum < needed * count) return;
    for (LeakGate& gate : found_.gates) {
      if (!gate.passed) gate.threshold *= least(gate);
      gate.passed = true;
    }
    found_.failed.clear();
    gate(Gate::trend, "together", sum / count, needed,
         "in a short history, a gate may miss its threshold if the others make up for it (mean of value / threshold)");
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
         "the floors rise more often than by chance (Mann-Kendall Z, corrected for autocorrelation)");
    find_drift(trend.z >= kSureTrend && found_.window.days >= life_.days);
    found_.slope = theil_sen(points, trend, kWiden).value_or(SlopeEstimate{});
    const double half = (found_.slope.per_day - found_.slope.lower) / kWiden;
    gate(Gate::slope, "slope", found_.slope.per_day - half, 0,
         "the lower end of the slope's interval is above 0, per day");
  }

  // The mean of the steps is uncertain if the floors scatter. If the trend of a whole life is certain, floors that
  // return to their line also show that the series is not a random walk.
  void find_drift(bool sure) {
    const double drift = drift_score(transformed(found_.floors, &TimedValue::value));
    const double least = few_ ? kDriftFew : found_.window.days < life_.days ? kDriftPart : kDrift;
    const double returns =
        sure && drift < least && found_.floors.size() >= kFewBlocks ? return_score(found_.floors) : 0;
    if (returns >= kReturns) {
      gate(Gate::drift, "drift", returns, kReturns,
           "the floors return to their line, unlike a random walk (Dickey-Fuller t)");
    } else {
      gate(Gate::drift, "drift", drift, least,
           "the mean step between floors is above 0, unlike in a random walk (in standard errors)");
    }
  }

  // Removes the same steps from the finer floors.
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
    // With daily blocks, the growth includes half of the first block and half of the last one. For counts it does not,
    // because a count is known only at each reading.
    const bool whole_window = found_.window.block >= 1 && metric_.unit != LeakUnit::count;
    const double ends = whole_window ? found_.window.block : 0;
    found_.growth = found_.slope.per_day * (floors.back().day - floors.front().day + ends);
    found_.scatter = robust_deviation(off_line(floors, found_.slope.per_day, found_.slope.intercept));
    gate(Gate::effect, "effect", found_.growth, min_growth(metric_, level_, found_.scatter),
         "the growth is significant and exceeds the scatter of the floors");
    if (found_.slope.per_day > 0) {
      gate(Gate::bottom, "bottom", bottom_slope() / found_.slope.per_day, kBottom,
           "the lowest readings of the blocks rise too, by this fraction of the floors' slope");
    }
    const std::size_t third = std::max<std::size_t>(floors.size() / 3, 3);
    const bool phases = points_.size() > floors.size();
    const double late = sen_slope(phases ? points_since(floors[floors.size() - std::max<std::size_t>(third, 4)].day)
                                         : std::span(floors).last(third));
    found_.late = found_.slope.per_day > 0 ? late / found_.slope.per_day : 0;
    const double highest = std::ranges::max_element(floors, {}, &TimedValue::value)->value;
    const bool at_top = floors.back().value >= highest - kFallBack * found_.growth - 2 * found_.scatter;
    const bool fell = found_.window.days >= life_.days && life_.straight.second_half <= 0;
    if (at_top && !fell && found_.late < kLate && late_by_day() >= kLateByDay) {
      found_.late = late_by_day();
      gate(Gate::growing, "growing", found_.late, kLateByDay,
           "its last third is above the same hours of the day before, by this fraction of the slope");
      return;
    }
    gate(Gate::growing, "growing", at_top && !fell ? found_.late : 0, kLate,
         "its last third still grows, by this fraction of the whole slope, and it has not come down");
  }

  // Returns the slope of the last third by comparison with the day before, relative to the whole slope; 0 if there is
  // no such day. In a window of a few hours, a falling part of the day would hide growth.
  double late_by_day() const {
    if (found_.window.block >= 1 || life_.days < 1 + kHalfDay || found_.slope.per_day <= 0) return 0;
    return rise_since_yesterday(life_.hours, found_.window.days / 3) / found_.slope.per_day;
  }

  // Returns the slope of the means if it is similar to the slope of the floors; otherwise the slope of the floors.
  // Noise in proportion to the level makes means rise faster than floors, so the slope of the means is more accurate.
  // But wider swings or more load also raise the means, and then only the floors show the leak.
  SlopeEstimate reported_slope(bool daily) const {
    std::vector<TimedValue> means = without(block_means(inside_, found_.window), found_.steps);
    if (daily) remove_weekly_pattern(means);
    const TrendTest trend = mann_kendall(means, tie_of(level_, metric_));
    const SlopeEstimate of_means = theil_sen(means, trend, kWiden).value_or(found_.slope);
    return std::abs(of_means.per_day - found_.slope.per_day) <= kAlike * std::abs(found_.slope.per_day) ? of_means
                                                                                                        : found_.slope;
  }

  double bottom_slope() const {
    std::vector<TimedValue> bottoms = soft_floors(inside_, found_.window, kLowest);
    return sen_slope(without(std::move(bottoms), found_.steps));
  }

  // A series that still rises passes even if a saturating curve fits it better.
  void find_straight() {
    const Straightness& straight = life_.straight;
    if (straight.curve_to_line >= kStraight) {
      gate(Gate::straight, "straight", straight.curve_to_line, kStraight,
           "a curve that levels off fits the whole run little better than a line (ratio of squared errors)");
    } else if (straight.end_slope >= kEndSlope) {
      gate(Gate::straight, "straight", straight.end_slope, kEndSlope,
           "the curve that fits the whole run best still rises at its end (fraction of its mean slope)");
    } else {
      gate(Gate::straight, "straight", straight.second_half, few_ ? kSecondHalfFew : kSecondHalf,
           "a curve that levels off fits the run best, but its second half still rises (fraction of the whole slope)");
    }
  }

  void find_shape(bool daily) {
    find_straight();
    if (found_.window.days < life_.days) {
      gate(Gate::novelty, "novelty", novelty_of(life_.hours, found_.window), kNovelty,
           "it is above all earlier floors of the run (as a multiple of the highest)");
    }
    // The full threshold applies to a life of a day and a half or more. For a shorter life, it is reduced in proportion
    // to the hours that can be compared with the day before.
    if (!daily && life_.days > 1 && found_.slope.per_day > 0) {
      const double least = kDiurnal * std::min((life_.days - 1) / kHalfDay, 1.0);
      gate(Gate::diurnal, "diurnal", rise_since_yesterday(life_.hours, found_.window.days) / found_.slope.per_day,
           least, "hours exceed those of the previous day, by this fraction of the slope");
    }
  }

  const LeakLife& life_;
  std::span<const LeakHour> inside_;
  const LeakMetric& metric_;
  double level_ = 0;
  bool few_ = false;  // the window is a whole, short life, so thresholds are lower
  std::vector<TimedValue> points_;
  WindowFinding found_;
};

}  // namespace

double min_growth(const LeakMetric& metric, double level, double scatter) {
  return std::max({metric.min_growth, metric.min_share * level, kScatters * scatter});
}

LeakLife make_life(std::span<const LeakHour> hours) {
  const double days = -hours.front().begin;
  return {hours, days, edges_of(hours), straightness_of(hours, days)};
}

std::optional<WindowFinding> judge_window(const LeakLife& life, double window_days, const LeakMetric& metric) {
  return Judge(life, window_days, metric).judge();
}

}  // namespace memoir
