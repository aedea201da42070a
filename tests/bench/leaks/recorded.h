#pragma once

// Scores Memoir and other rules on recorded memory in three ways: as recorded, with an added ramp, and before a limit
// is reached. A rule gets the samples up to a time, and the limit.

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
  std::optional<LeakInterval> in_ms;  // time until the limit is reached
};

struct Rule {
  std::string name;
  std::function<Judged(std::span<const LeakSample> samples, const LeakSeries& series, double limit)> judge;
};

// Returns all rules; Memoir's is the first.
const std::vector<Rule>& rules();

struct RampScore {
  Rate plain;                // alarms at the end, as recorded
  int episodes = 0;          // series of consecutive alarms as recorded, from 64 checks per trace
  double months = 0;         // recorded time, in months of 30 days
  std::vector<Rate> ramped;  // alarms at the end with each ramp
  Rate stopped;              // alarms with the last ramp, if it ended before the last fifth
};

// `rises` are percentage points, or parts of each trace's level if `shares`. The limit is 100, or twice the level.
std::vector<RampScore> score_ramps(const std::vector<Trace>& traces, const std::vector<double>& rises, bool shares);

inline constexpr double kInfinite = 1e6;  // width of an interval that has no end

struct FillScore {
  double hours = 0;            // time left until the limit is reached
  Rate found;                  // alarms with a forecast
  Rate covered;                // intervals that contain the truth
  std::vector<double> errors;  // relative error
  std::vector<double> widths;  // width of the interval relative to the truth
};

struct FillScores {
  std::vector<FillScore> cuts;
  Rate stable;  // alarms among the checks after the first alarm
};

// Scores forecasts of the time until the highest reading, which counts as the limit, in traces where it is near the
// end. One score per rule.
std::vector<FillScores> score_fills(const std::vector<Trace>& traces, const std::vector<double>& hours);

// Synthetic histories that fill up within days.
std::vector<Trace> synthetic_fills(Split split, int seeds);

}  // namespace memoir::bench
