#pragma once

// The gates, all of which a window must pass. Pure; times in days before the end of the series.

#include <optional>
#include <span>
#include <vector>

#include "analysis/leak/floor.h"
#include "analysis/leak/leak.h"
#include "analysis/leak/shape.h"
#include "analysis/leak/statistics.h"

namespace memoir {

// In the order of evaluation; the first gate that fails determines the verdict.
enum class Gate : std::uint8_t { trend, drift, slope, effect, bottom, growing, straight, novelty, diurnal };

// Factor that widens the interval of slopes: the points are less independent than the interval assumes.
inline constexpr double kWiden = 1.2;

// Part of a threshold that is enough for a leak that was reported recently.
inline constexpr double kNearly = 0.85;

struct WindowFinding {
  LeakWindow window;
  std::vector<TimedValue> recorded;  // floors as recorded
  std::vector<TimedValue> floors;    // without the weekly pattern and isolated steps
  bool week = false;                 // the weekly pattern was removed
  std::vector<LeakStep> steps;       // removed steps
  SlopeEstimate slope;               // of the floors
  SlopeEstimate reported;            // reported slope: that of the means, if they rise as the floors do
  double growth = 0;                 // along the line, over the floors
  double scatter = 0;                // robust deviation of the floors from the line
  double late = 0;                   // slope of the last third, relative to the whole slope
  std::vector<LeakGate> gates;
  std::vector<Gate> failed;
  bool nearly = false;  // no gate is below 85 % of its threshold: enough for a leak that was reported recently
  bool passed() const { return failed.empty(); }
};

// A life with the facts that hold for all of it.
struct LeakLife {
  std::span<const LeakHour> hours;  // in time order; the life ends where the series ends
  double days = 0;
  std::vector<LeakStep> edges;
  Straightness straight;
};
LeakLife make_life(std::span<const LeakHour> hours);

// Returns nullopt if the window has too few blocks (5).
std::optional<WindowFinding> judge_window(const LeakLife& life, double window_days, const LeakMetric& metric);

// Returns the largest of three: the metric's own minimum growth, its share of the level, and three times the scatter.
double min_growth(const LeakMetric& metric, double level, double scatter);

}  // namespace memoir
