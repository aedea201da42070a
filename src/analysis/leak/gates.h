#pragma once

// The gates that a window must pass, all of them. Pure; times in days before the end of the series.

#include <optional>
#include <span>
#include <vector>

#include "analysis/leak/floor.h"
#include "analysis/leak/leak.h"
#include "analysis/leak/shape.h"
#include "analysis/leak/statistics.h"

namespace memoir {

// In the order in which they are asked; the first that fails names the verdict.
enum class Gate : std::uint8_t { trend, drift, slope, effect, bottom, growing, straight, novelty, diurnal };

// How much wider an interval of slopes is told than the points alone give it: they are not as independent as it takes
// them.
inline constexpr double kWiden = 1.2;

struct WindowFinding {
  LeakWindow window;
  std::vector<TimedValue> recorded;  // floors as recorded
  std::vector<TimedValue> floors;    // without the week and without lone steps
  bool week = false;                 // the week's shape was taken out
  std::vector<LeakStep> steps;       // were taken out
  SlopeEstimate slope;               // of the floors
  SlopeEstimate told;                // what is told: of the means, where they rise as the floors do
  double growth = 0;                 // along the line, over the floors
  double scatter = 0;                // robust deviation of the floors from the line
  double late = 0;                   // slope of the last third, of the whole slope
  std::vector<LeakGate> gates;
  std::vector<Gate> failed;
  bool passed() const { return failed.empty(); }
};

// A life and what is known of it as a whole.
struct LeakLife {
  std::span<const LeakHour> hours;  // in order; the life ends where the series ends
  double days = 0;
  std::vector<LeakStep> edges;
  Straightness straight;
};
LeakLife make_life(std::span<const LeakHour> hours);

// Nothing if the window has too few blocks (5).
std::optional<WindowFinding> judge_window(const LeakLife& life, double window_days, const LeakMetric& metric);

// The largest of three: the metric's own least growth, its share of the level, and three times the scatter.
double least_growth(const LeakMetric& metric, double level, double scatter);

}  // namespace memoir
