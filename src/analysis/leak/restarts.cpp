#include "analysis/leak/restarts.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/leak/gates.h"

namespace memoir {

namespace {

constexpr std::size_t kMinLifetimes = 3;
constexpr std::size_t kMinFloors = 6;
constexpr int kPhasesOfDay = 4;
constexpr double kBlock = 1.0 / kPhasesOfDay;  // days
constexpr double kLivesUp = 0.8;
constexpr double kTrendOfLives = 2.1;
constexpr double kGoesOn = 0.4;
constexpr double kCurrent = 0.4;
constexpr double kTieShare = 0.001;

struct LeakLifetime {
  std::vector<TimedValue> floors;  // the stratum is the quarter of the day
  double slope = 0;
  double growth = 0;
  double late = 0;  // slope of the second half, relative to the slope of the first half
};

// Returns the floors of a life's blocks of six hours, counted back from its end. Omits an incomplete block at its
// start.
std::vector<TimedValue> floors_of(std::span<const LeakHour> hours) {
  const double end = hours.back().end;
  std::vector<LeakHour> aged(hours.begin(), hours.end());
  for (LeakHour& hour : aged) {
    hour.begin -= end;
    hour.end -= end;
  }
  const double days = -aged.front().begin;
  std::vector<TimedValue> floors = soft_floors(aged, {days, kBlock});
  for (TimedValue& floor : floors)
    floor.stratum = static_cast<int>(std::floor(-floor.day * kPhasesOfDay)) % kPhasesOfDay;
  return floors;
}

LeakLifetime make_life(std::vector<TimedValue> floors) {
  LeakLifetime life;
  std::vector<TimedValue> plain = floors;
  for (TimedValue& floor : plain) floor.stratum = 0;
  life.slope = sen_slope(plain);
  life.growth = life.slope * (plain.back().day - plain.front().day);
  const std::span<const TimedValue> all(plain);
  const double first = sen_slope(all.first(all.size() / 2));
  const double second = sen_slope(all.last(all.size() - all.size() / 2));
  life.late = first > 0 ? second / first : second > 0 ? 1 : 0;
  life.floors = std::move(floors);
  return life;
}

double level_of(const std::vector<LeakLifetime>& lives) {
  std::vector<double> levels;
  for (const LeakLifetime& life : lives) {
    for (const TimedValue& floor : life.floors) levels.push_back(floor.value);
  }
  return median_of(std::move(levels));
}

// The values of one life are correlated, but lives are independent of each other. So the trends of the lives are added
// up.
TrendTest combined_trend(const std::vector<LeakLifetime>& lives, double tie) {
  TrendTest sum;
  for (const LeakLifetime& life : lives) {
    const TrendTest one = mann_kendall(life.floors, tie);
    sum.s += one.s;
    sum.variance += one.variance;
  }
  if (sum.variance > 0 && sum.s != 0) sum.z = (sum.s - std::copysign(1.0, sum.s)) / std::sqrt(sum.variance);
  return sum;
}

// Median slope of the lives before the current one; infinite unless positive.
double earlier_slope(std::vector<double> slopes) {
  slopes.pop_back();
  const double slope = median_of(std::move(slopes));
  return slope > 0 ? slope : std::numeric_limits<double>::infinity();
}

std::vector<TimedValue> all_floors(const std::vector<LeakLifetime>& lives) {
  std::vector<TimedValue> all;
  int stratum = 0;
  for (const LeakLifetime& life : lives) {
    for (TimedValue floor : life.floors) {
      floor.stratum += stratum;
      all.push_back(floor);
    }
    stratum += kPhasesOfDay;
  }
  return all;
}

}  // namespace

RestartsFinding judge_restarts(const std::vector<std::span<const LeakHour>>& lives, const LeakMetric& metric) {
  RestartsFinding found;
  std::vector<std::vector<TimedValue>> comparable;
  bool current = false;
  for (const auto& hours : lives) {
    std::vector<TimedValue> floors = hours.empty() ? std::vector<TimedValue>() : floors_of(hours);
    current = floors.size() >= kMinFloors;
    if (current) comparable.push_back(std::move(floors));
  }
  found.lives = comparable.size();
  if (comparable.size() < kMinLifetimes) return found;
  const auto judged =
      transformed(comparable, [](std::vector<TimedValue>& floors) { return make_life(std::move(floors)); });

  const double level = level_of(judged);
  const TrendTest trend = combined_trend(judged, std::max(metric.min_growth / 128, kTieShare * level));
  found.slope = theil_sen(all_floors(judged), trend, kWiden).value_or(SlopeEstimate{});
  found.growth = median_of(transformed(judged, &LeakLifetime::growth));
  const std::vector<double> slopes = transformed(judged, &LeakLifetime::slope);
  const auto up = static_cast<double>(std::count_if(slopes.begin(), slopes.end(), [](double s) { return s > 0; }));

  const auto gate = [&found](std::string name, double value, double threshold, std::string meaning) {
    found.gates.push_back({std::move(name), value, threshold, value >= threshold, std::move(meaning)});
    return value >= threshold;
  };
  const bool most = gate("lives", up / static_cast<double>(judged.size()), kLivesUp, "share of the runs that grow");
  const bool trends = gate("trend", trend.z, kTrendOfLives, "floors rise with the age of a run (Mann-Kendall Z)");
  const bool matters =
      gate("effect", found.growth, min_growth(metric, level, 0), "the growth of the median run is significant");
  const bool goes_on = gate("growing", median_of(transformed(judged, &LeakLifetime::late)), kGoesOn,
                            "the second half of a run still grows, by this fraction of the first half's slope");
  const bool still = !current || gate("current", judged.back().slope / earlier_slope(slopes), kCurrent,
                                      "the current run also grows, at this fraction of the earlier runs' slope");
  found.passed = most && trends && matters && goes_on && still;
  found.warm_up = most && matters && !goes_on;
  return found;
}

}  // namespace memoir
