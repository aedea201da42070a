// For each gate, a series that only this gate rejects. A gate that accepts everything fails its test.

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <vector>

#include "analysis/leak/gates.h"
#include "support/catch.h"

using namespace memoir;

namespace {

constexpr double kMibOfKib = 1024;

// Each value lasts `hours_each`; nullopt stands for unrecorded time.
std::vector<LeakHour> held(const std::vector<std::optional<double>>& values, int hours_each) {
  const int hours = static_cast<int>(values.size()) * hours_each;
  std::vector<LeakHour> life;
  for (int hour = 0; hour < hours; ++hour) {
    const auto& value = values[static_cast<std::size_t>(hour / hours_each)];
    if (!value) continue;
    const double begin = (hour - hours) / 24.0;
    life.push_back({begin, begin + 1 / 24.0, *value, *value, *value});
  }
  return life;
}

std::vector<LeakHour> by_day(const std::vector<double>& mib) {
  std::vector<std::optional<double>> values;
  for (const double value : mib) values.emplace_back(value * kMibOfKib);
  return held(values, 24);
}

std::vector<LeakHour> by_hour(int hours, const std::function<double(double)>& mib) {
  std::vector<std::optional<double>> values;
  for (int hour = 0; hour < hours; ++hour) values.emplace_back(mib(hour) * kMibOfKib);
  return held(values, 1);
}

// Returns the gates that fail. If `days` is 0, the run has the length of the series.
std::vector<Gate> rejecting(const std::vector<LeakHour>& hours, double days = 0, const LeakMetric& metric = {}) {
  const LeakLife life = make_life(hours);
  const std::optional<WindowFinding> window = judge_window(life, days > 0 ? days : life.days, metric);
  REQUIRE(window);
  return window->failed;
}

}  // namespace

TEST_CASE("a straight line passes every gate") {
  CHECK(rejecting(by_hour(720, [](double hour) { return 200 + 5 * hour / 24; })).empty());
}

TEST_CASE("the trend gate rejects series that fall nearly as often as they rise") {
  CHECK(rejecting(by_day({84, 100, 93, 90, 114, 114, 107, 111, 120, 119})) == std::vector{Gate::trend});
}

TEST_CASE("in a week, but not in five days, the other gates may outweigh one that is narrowly missed") {
  CHECK(rejecting(by_day({91, 97, 116, 103, 115, 109, 127})).empty());
  CHECK_FALSE(rejecting(by_day({91, 116, 103, 115, 109, 127})).empty());
}

TEST_CASE("the drift gate rejects a rising random walk") {
  CHECK(rejecting(by_day({400, 403, 401, 401, 401, 403, 416, 420, 429, 436,
                          445, 445, 451, 450, 448, 449, 459, 455, 469, 451})) == std::vector{Gate::drift});
}

TEST_CASE("the drift gate accepts small growth whose floors return to their line") {
  CHECK(rejecting(by_day({295, 297, 298, 300, 309, 297, 304, 310, 310, 316, 324, 315,
                          324, 314, 325, 325, 327, 316, 332, 317, 323, 337, 333, 341}))
            .empty());
}

// A count that falls by less than one is a tie for the trend gate, but a decline for the slope gate.
TEST_CASE("the slope gate rejects upward steps with declines in between") {
  const auto gap = std::nullopt;
  CHECK(rejecting(held({10.0, gap, 12.304, 11.974, 11.782, 11.515, gap, 14.843, gap, 14.416, gap, 17.811}, 2), 0,
                  {"processes", 2, 0, LeakUnit::count}) == std::vector{Gate::slope});
}

TEST_CASE("the effect gate rejects growth that is too little to matter") {
  CHECK(rejecting(by_hour(720, [](double hour) { return 300 + 0.3 * hour / 24; })) == std::vector{Gate::effect});
}

TEST_CASE("the bottom gate rejects daily swings that widen on a level floor") {
  CHECK(rejecting(by_hour(720, [](double hour) {
          return 300 * (1 + 0.4 * (1 + hour / 360) * (0.5 - 0.5 * std::cos(2 * 3.14159265358979 * hour / 24)));
        })) == std::vector{Gate::bottom});
}

TEST_CASE("the growing gate rejects growth that has stopped") {
  CHECK(rejecting(by_hour(720, [](double hour) { return 200 + 5 * std::min(hour / 24, 22.0); })) ==
        std::vector{Gate::growing});
}

TEST_CASE("the straight gate rejects a cache that fills ever more slowly") {
  CHECK(rejecting(by_hour(720, [](double hour) { return 300 * (1 + 0.2 * std::log1p(hour / 8)); })) ==
        std::vector{Gate::straight});
}

TEST_CASE("the novelty gate rejects a rise to a level from before the window") {
  CHECK(rejecting(by_hour(720, [](double hour) { return hour < 288 ? 300 : 200 + 5 * (hour / 24 - 12); }), 15) ==
        std::vector{Gate::novelty});
}

TEST_CASE("the diurnal gate rejects hours that are lower than the same hours of the previous day") {
  CHECK(rejecting(by_hour(96,
                          [](double hour) {
                            const double part = std::max(0.0, std::fmod(hour, 24) - 12) / 12;
                            return 300 + (hour < 72 ? 100 * part : 130 * std::pow(part, 1.5));
                          }),
                  0.5) == std::vector{Gate::diurnal});
}
