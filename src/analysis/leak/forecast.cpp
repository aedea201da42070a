#include "analysis/leak/forecast.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/leak/gates.h"

namespace memoir {

namespace {

constexpr double kNinety = 1.645;  // two-sided 90 % quantile of the normal distribution
constexpr double kPhasesFrom = 2;  // minimum length of the last third, in days
constexpr double kPartsOfThird = 8;
constexpr std::size_t kMinPoints = 5;
constexpr double kSteeper = 1.2;
constexpr double kDaysForCycle = 1.5;
constexpr double kBlocks = 12;
constexpr double kStray = 0.95;
constexpr double kSlack = 1.0 / 24;  // part of the cycle by which the forecast is widened: one hour of a day
constexpr double kUnseen = 1.6;   // possible error of the slope as a factor, because hours not yet observed may differ
constexpr double kFarthest = 10;  // longest forecast, as a multiple of the observed time

// Returns the floors of the last third. If it has at least two days, their stratum is the time of day.
std::vector<TimedValue> recent_floors(std::span<const LeakHour> life, double days) {
  const double third = days / 3;
  if (third >= kPhasesFrom) return phase_floors(last_days(life, third), third);
  return soft_floors(last_days(life, third), {third, third / kPartsOfThird});
}

// Finds the current slope. It starts from the slope of the whole life, and moves towards the slope of the last third as
// far as the two differ by more than their errors.
void find_slope(LeakOutlook& outlook, std::span<const LeakHour> life, double days, const SlopeEstimate& whole) {
  outlook.slope = {whole.per_day, whole.lower, whole.upper};
  const std::vector<TimedValue> points = recent_floors(life, days);
  if (points.size() < kMinPoints) return;
  const std::optional<SlopeEstimate> recent = theil_sen(points, mann_kendall(points, 0), kWiden);
  if (!recent) return;
  const double error = (recent->upper - recent->lower) / 2 / kNinety;
  const double error_of_whole = (whole.upper - whole.lower) / 2 / kNinety;
  const double change = recent->per_day - whole.per_day;
  const double excess = std::max(change * change - error * error - error_of_whole * error_of_whole, 0.0);
  const double weight = excess > 0 ? excess / (excess + error * error) : 0;
  const double half = std::abs(change) / 2;
  outlook.accelerates = recent->lower > whole.per_day && recent->per_day > kSteeper * whole.per_day;
  // The slope of the last third applies to the middle of the third. If growth becomes faster, the slope at the end is
  // higher by half of the change.
  outlook.slope = {whole.per_day + weight * (change + std::max(change, 0.0) / 2),
                   outlook.accelerates ? recent->lower : std::min(whole.lower, recent->per_day - half),
                   std::max(whole.upper, recent->per_day + half)};
}

// Takes the last day as a cycle that repeats itself, higher by a day's growth each time. Strays are the differences
// from the day before that this growth does not explain.
void find_cycle(LeakOutlook& outlook, std::span<const LeakHour> life) {
  outlook.cycle_days = 1;
  std::vector<double> strays;
  auto yesterday = life.begin();
  for (const LeakHour& hour : life) {
    const double middle = 0.5 * (hour.begin + hour.end);
    if (middle > -1) outlook.cycle.push_back({middle, hour.max});
    while (yesterday != life.end() && yesterday->end <= middle - 1) ++yesterday;
    if (middle < -2 || yesterday == life.end() || yesterday->begin > middle - 1) continue;
    strays.push_back(std::abs(hour.max - yesterday->max - outlook.slope.value));
  }
  if (!strays.empty()) outlook.stray = quantile_of(std::move(strays), kStray);
}

// Takes the usual peak of a block as the reading that repeats itself, because less than two days show no cycle.
void find_peak(LeakOutlook& outlook, std::span<const LeakHour> life, double days) {
  const double block = days / kBlocks;
  const double third = days / 3;
  std::vector<double> peaks(static_cast<std::size_t>(std::floor(third / block + 1e-6)), -HUGE_VAL);
  for (const LeakHour& hour : last_days(life, third)) {
    const double middle = 0.5 * (hour.begin + hour.end);
    const auto at = static_cast<std::size_t>(std::max(-middle / block, 0.0));
    if (at < peaks.size()) peaks[at] = std::max(peaks[at], hour.max - outlook.slope.value * middle);
  }
  std::erase_if(peaks, [](double peak) { return !std::isfinite(peak); });
  if (peaks.empty()) peaks.push_back(life.back().max);
  const auto [lowest, highest] = std::ranges::minmax(peaks);
  outlook.cycle = {{0, median_of(peaks)}};
  outlook.stray = (highest - lowest) / 2;
}

// Returns the days until a reading of the cycle reaches `limit`, if each repetition is higher by the growth in between.
double days_until(const LeakOutlook& outlook, double limit, double per_day) {
  double soonest = std::numeric_limits<double>::infinity();
  if (per_day <= 0) return soonest;
  for (const LeakReading& reading : outlook.cycle) {
    const double days = std::max(limit - reading.value, 0.0) / per_day;
    const double whole = outlook.cycle_days > 0 ? std::max(std::ceil(days / outlook.cycle_days), 1.0) : days;
    soonest = std::min(soonest, outlook.cycle_days > 0 ? reading.day + whole * outlook.cycle_days : days);
  }
  return std::max(soonest, 0.0);
}

}  // namespace

LeakOutlook outlook_of(std::span<const LeakHour> life, double days, const SlopeEstimate& whole) {
  LeakOutlook outlook;
  find_slope(outlook, life, days, whole);
  if (days >= kDaysForCycle) {
    find_cycle(outlook, life);
  } else {
    find_peak(outlook, life, days);
    outlook.slope.lower = std::min(outlook.slope.lower, outlook.slope.value / kUnseen);
    outlook.slope.upper = std::max(outlook.slope.upper, outlook.slope.value * kUnseen);
  }
  const LeakHour& last = life.back();
  outlook.reading = {last.mean, last.min, last.max};
  return outlook;
}

std::optional<LeakExhaustion> exhaustion_of(const LeakFinding& found, const std::vector<LeakLimit>& limits,
                                            const LeakSettings& settings) {
  const LeakOutlook& outlook = found.outlook;
  if (limits.empty() || outlook.slope.value <= 0) return std::nullopt;
  const LeakLimit& nearest = *std::ranges::min_element(limits, {}, &LeakLimit::room);
  const double room = std::max(nearest.room, 0.0);
  LeakExhaustion exhaustion{nearest.name, room, outlook.accelerates, std::nullopt};
  const double day_ms = 24 * static_cast<double>(settings.hour_ms);
  const auto reading = [&](double LeakInterval::*member) {
    return room + (nearest.reading ? *nearest.reading : outlook.reading.*member);
  };
  const double in_ms = day_ms * days_until(outlook, reading(&LeakInterval::value), outlook.slope.value);
  if (in_ms > kFarthest * static_cast<double>(found.window_ms)) return exhaustion;
  const double strays = nearest.error + outlook.stray;
  const double slack_ms = day_ms * outlook.cycle_days * kSlack;
  const double earliest_ms = day_ms * days_until(outlook, reading(&LeakInterval::lower) - strays, outlook.slope.upper);
  const double latest_ms = day_ms * days_until(outlook, reading(&LeakInterval::upper) + strays, outlook.slope.lower);
  exhaustion.in_ms = LeakInterval{in_ms, std::max(std::min(in_ms, earliest_ms) - slack_ms, 0.0),
                                  std::max(in_ms, latest_ms) + slack_ms};
  return exhaustion;
}

}  // namespace memoir
