#include "analysis/leak/floor.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <numeric>

namespace memoir {

namespace {

constexpr double kDailyFrom = 5;  // minimum window for blocks of a day, in days
constexpr double kBlocksPerWindow = 12;
constexpr double kMinFilled = 0.5;
constexpr int kPhases = 8;
constexpr std::size_t kTwoWeeks = 14;
constexpr double kWeekExplains = 0.5;
constexpr std::size_t kMaxSteps = 4;
constexpr std::size_t kMaxStepsPart = 4;
constexpr int kMaxFalls = 1;
constexpr double kStepDeviations = 6;
constexpr double kStepLevel = 0.02;
constexpr double kStepLasts = 0.5;
constexpr double kStepMovement = 0.3;

double mean_of_lowest(std::vector<double>& minima, double part) {
  const auto half = static_cast<std::size_t>(std::ceil(part * static_cast<double>(minima.size())));
  std::nth_element(minima.begin(), minima.begin() + static_cast<std::ptrdiff_t>(half - 1), minima.end());
  return mean_of(std::span(minima).first(half));
}

template <typename Reduce>
std::vector<TimedValue> blocks_of(std::span<const LeakHour> hours, const LeakWindow& window, double LeakHour::*member,
                                  Reduce reduce) {
  const auto count = static_cast<std::ptrdiff_t>(std::floor(window.days / window.block + 1e-6));
  std::vector<TimedValue> values;
  std::vector<double> of_block;
  double filled = 0;
  std::ptrdiff_t block = -1;  // number of the block, counted from the end
  const auto end_block = [&] {
    if (!of_block.empty() && filled >= kMinFilled * window.block) {
      values.push_back({-(static_cast<double>(block) + 0.5) * window.block, reduce(of_block), 0});
    }
    of_block.clear();
    filled = 0;
  };
  for (const LeakHour& hour : hours) {
    const double middle = 0.5 * (hour.begin + hour.end);
    const auto from_end = static_cast<std::ptrdiff_t>(std::floor(-middle / window.block));
    if (from_end < 0 || from_end >= count) continue;
    if (from_end != block) end_block();
    block = from_end;
    of_block.push_back(hour.*member);
    filled += hour.end - hour.begin;
  }
  end_block();
  return values;
}

double sum_of_distances(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0,
                         [](double sum, double value) { return sum + std::abs(value); });
}

std::vector<double> residuals(std::span<const TimedValue> floors) {
  std::vector<double> rest = off_line(floors, sen_slope(floors));
  const double centre = median_of(rest);
  for (double& value : rest) value -= centre;
  return rest;
}

// Median of the `kSide` values from `at` on, minus the median of the `kSide` values before it.
template <std::size_t kSide>
double rise_at(const std::vector<double>& values, std::size_t at) {
  std::array<double, kSide> side{};
  const auto median = [&side, &values](std::size_t from, std::size_t to) {
    const auto end = std::copy(values.begin() + static_cast<std::ptrdiff_t>(from),
                               values.begin() + static_cast<std::ptrdiff_t>(to), side.begin());
    const auto middle = side.begin() + (end - side.begin()) / 2;
    std::nth_element(side.begin(), middle, end);
    return *middle;
  };
  return median(at, std::min(at + kSide, values.size())) - median(at - std::min(at, kSide), at);
}

void shift(std::vector<TimedValue>& floors, std::span<const LeakStep> steps, double sign) {
  for (const LeakStep& step : steps) {
    for (TimedValue& floor : floors) {
      if (floor.day >= step.day) floor.value += sign * step.by;
    }
  }
}

bool lone(const std::vector<LeakStep>& steps, std::size_t increments) {
  const auto falls = std::count_if(steps.begin(), steps.end(), [](const LeakStep& step) { return step.by < 0; });
  // A series that falls more often is a sawtooth. Removing its falls would leave only the rises.
  return steps.size() <= std::min(kMaxSteps, increments / kMaxStepsPart) && falls <= kMaxFalls;
}

}  // namespace

std::vector<TimedValue> put_back(std::vector<TimedValue> floors, std::span<const LeakStep> steps) {
  shift(floors, steps, +1);
  return floors;
}

std::vector<TimedValue> without(std::vector<TimedValue> floors, std::span<const LeakStep> steps) {
  shift(floors, steps, -1);
  return floors;
}

std::vector<LeakStep> edges_of(std::span<const LeakHour> hours) {
  constexpr std::size_t side = 6;  // hours
  constexpr std::size_t day = 24;
  if (hours.size() < 2 * day) return {};
  const std::vector<double> minima = transformed(hours, &LeakHour::min);
  std::vector<double> rises(minima.size(), 0.0);
  for (std::size_t at = side; at + side <= minima.size(); ++at) rises[at] = rise_at<side>(minima, at);
  const double least = std::max(kStepDeviations * robust_deviation(rises), kStepLevel * std::abs(median_of(minima)));
  std::vector<LeakStep> edges;
  for (std::size_t at = side; at + side <= minima.size(); ++at) {
    const double rise = std::abs(rises[at]);
    if (rise <= least) continue;
    const auto from = rises.begin() + static_cast<std::ptrdiff_t>(at - side);
    const auto to = rises.begin() + static_cast<std::ptrdiff_t>(std::min(at + side + 1, rises.size()));
    const auto highest = std::max_element(from, to, [](double a, double b) { return std::abs(a) < std::abs(b); });
    if (highest != rises.begin() + static_cast<std::ptrdiff_t>(at)) continue;
    const double lasting = rise_at<day>(minima, at);
    if (lasting * rises[at] > 0 && std::abs(lasting) >= kStepLasts * rise)
      edges.push_back({hours[at].begin, rises[at]});
  }
  return edges;
}

std::vector<LeakStep> take_out_edges(std::span<const LeakStep> edges, std::vector<TimedValue>& floors) {
  std::vector<LeakStep> steps;
  std::copy_if(edges.begin(), edges.end(), std::back_inserter(steps),
               [&floors](const LeakStep& edge) { return edge.day > floors.front().day; });
  if (!lone(steps, floors.size() - 1)) return {};
  shift(floors, steps, -1);
  return steps;
}

LeakWindow make_window(double days) {
  return {days, days >= kDailyFrom ? 1 : days / kBlocksPerWindow};
}

std::span<const LeakHour> last_days(std::span<const LeakHour> hours, double days) {
  constexpr double rounding = 1e-9;
  const auto first = std::ranges::lower_bound(hours, -days - rounding, {}, &LeakHour::begin);
  return hours.subspan(static_cast<std::size_t>(first - hours.begin()));
}

std::vector<TimedValue> soft_floors(std::span<const LeakHour> hours, const LeakWindow& window, double lowest) {
  return blocks_of(hours, window, &LeakHour::min,
                   [lowest](std::vector<double>& minima) { return mean_of_lowest(minima, lowest); });
}

std::vector<TimedValue> block_means(std::span<const LeakHour> hours, const LeakWindow& window) {
  return blocks_of(hours, window, &LeakHour::mean, [](std::vector<double>& means) { return mean_of(means); });
}

std::vector<TimedValue> phase_floors(std::span<const LeakHour> hours, double days) {
  constexpr double width = 1.0 / kPhases;
  std::vector<TimedValue> floors = soft_floors(hours, {std::floor(days * kPhases + 1e-6) * width, width});
  for (TimedValue& floor : floors) {
    floor.stratum = static_cast<int>(std::floor(-floor.day * kPhases)) % kPhases;
  }
  return floors;
}

bool remove_weekly_pattern(std::vector<TimedValue>& floors) {
  if (floors.size() < kTwoWeeks) return false;
  const std::vector<double> rest = residuals(floors);
  std::vector<std::vector<double>> weekdays(7);
  const auto weekday = [](const TimedValue& floor) { return static_cast<std::size_t>(std::floor(-floor.day)) % 7; };
  for (std::size_t at = 0; at < floors.size(); ++at) weekdays[weekday(floors[at])].push_back(rest[at]);
  std::vector<double> usual(7, 0.0);
  for (std::size_t day = 0; day < usual.size(); ++day) {
    if (!weekdays[day].empty()) usual[day] = median_of(weekdays[day]);
  }
  std::vector<double> left(rest.size());
  for (std::size_t at = 0; at < floors.size(); ++at) left[at] = rest[at] - usual[weekday(floors[at])];
  if (sum_of_distances(left) > (1 - kWeekExplains) * sum_of_distances(rest)) return false;
  for (TimedValue& floor : floors) floor.value -= usual[weekday(floor)];
  return true;
}

std::vector<LeakStep> remove_steps(std::vector<TimedValue>& floors) {
  if (floors.size() < 5) return {};
  std::vector<double> increments(floors.size() - 1);
  const std::vector<double> values = transformed(floors, &TimedValue::value);
  for (std::size_t at = 0; at < increments.size(); ++at) increments[at] = values[at + 1] - values[at];
  const double usual = median_of(increments);
  const double least =
      std::max(kStepDeviations * robust_deviation(increments), kStepLevel * std::abs(median_of(values)));
  std::vector<LeakStep> steps;
  double movement = 0;
  for (std::size_t at = 0; at < increments.size(); ++at) {
    const double jump = increments[at] - usual;
    if (std::abs(jump) <= least) continue;
    steps.push_back({floors[at + 1].day, jump});
    movement += std::abs(jump);
  }
  if (!lone(steps, increments.size())) return {};
  if (movement <= kStepMovement * sum_of_distances(increments)) return {};
  shift(floors, steps, -1);
  return steps;
}

}  // namespace memoir
