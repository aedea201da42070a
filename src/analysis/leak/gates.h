#pragma once

// The gates that a window must pass to be a leak. Pure; times are in days relative to the end of the series, so <= 0.

#include <optional>
#include <span>
#include <vector>

#include "analysis/leak/floor.h"
#include "analysis/leak/leak.h"
#include "analysis/leak/shape.h"
#include "analysis/leak/statistics.h"

namespace memoir {

// The gates in the order of evaluation. The first gate that fails determines the verdict.
enum class Gate : std::uint8_t { trend, drift, slope, effect, bottom, growing, straight, novelty, diurnal };

// Factor that widens the interval of a slope, because the points are less independent than the interval assumes.
inline constexpr double kWiden = 1.2;

// Part of a threshold that suffices for a leak that was already reported recently.
inline constexpr double kNearly = 0.85;

struct WindowFinding {
  LeakWindow window;
  std::vector<TimedValue> recorded;  // floors as recorded
  std::vector<TimedValue> floors;    // floors without the weekly pattern and isolated steps
  bool week = false;                 // the weekly pattern was removed
  std::vector<LeakStep> steps;       // removed steps
  SlopeEstimate slope;               // slope of the floors
  SlopeEstimate reported;            // slope to report: of the means if it is similar to `slope`, otherwise `slope`
  double growth = 0;                 // growth of the fitted line from the first floor to the last
  double scatter = 0;                // robust deviation of the floors from the line
  double late = 0;                   // slope of the last third, relative to the whole slope; see find_growth()
  std::vector<LeakGate> gates;
  std::vector<Gate> failed;
  bool nearly = false;  // every value is at least kNearly of its threshold; some gates must pass
  bool passed() const { return failed.empty(); }
};

// A life, with the results that apply to all its windows.
struct LeakLife {
  std::span<const LeakHour> hours;  // buckets in time order; the life ends where the last one ends
  double days = 0;
  std::vector<LeakStep> edges;
  Straightness straight;
};
LeakLife make_life(std::span<const LeakHour> hours);

// Returns nullopt if the window has fewer than five blocks.
std::optional<WindowFinding> judge_window(const LeakLife& life, double window_days, const LeakMetric& metric);

// Returns the minimum growth that is significant. It is the largest of the metric's own minimum, its share of the
// level, and three times the scatter.
double min_growth(const LeakMetric& metric, double level, double scatter);

}  // namespace memoir
