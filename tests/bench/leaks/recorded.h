#pragma once

// Scores Memoir and other rules on recorded memory: as recorded, with a ramp, and before a limit is reached. A rule
// sees the samples up to now, and the limit.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/leak/leak.h"
#include "bench/leaks/generator.h"
#include "bench/leaks/score.h"
#include "bench/leaks/traces.h"

namespace memoir::bench {

struct Judged {
  bool alarm = false;
  std::optional<LeakInterval> in_ms;  // until the limit is reached
};

struct Rule {
  std::string name;
  std::function<Judged(std::span<const LeakSample> samples, const LeakSeries& series, double limit)> judge;
};

// Memoir first.
const std::vector<Rule>& rules();

struct RampScore {
  Rate plain;                // alarms at the end, as recorded
  int episodes = 0;          // runs of alarms as recorded, 64 checks per trace
  double months = 0;         // recorded time, of 30 days
  std::vector<Rate> ramped;  // alarms at the end with each ramp
  Rate stopped;              // alarms with the last ramp, that ended before the last fifth
};

// `rises` are points; `shares` are parts of each trace's level. Limit: 100, or twice the level.
std::vector<RampScore> score_ramps(const std::vector<Trace>& traces, const std::vector<double>& rises, bool shares);

inline constexpr double kInfinite = 1e6;  // width of an interval without an end

struct FillScore {
  double hours = 0;            // before the limit is reached
  Rate found;                  // alarms with a forecast
  Rate covered;                // intervals that contain the truth
  std::vector<double> errors;  // relative
  std::vector<double> widths;  // of the intervals, relative to the truth
};

struct FillScores {
  std::vector<FillScore> cuts;
  Rate stable;  // checks after the first alarm that are alarms
};

// Traces whose highest reading is near their end: it is the limit. One score per rule.
std::vector<FillScores> score_fills(const std::vector<Trace>& traces, const std::vector<double>& hours);

// Synthetic histories that fill up within days.
std::vector<Trace> synthetic_fills(Split split, int seeds);

}  // namespace memoir::bench
