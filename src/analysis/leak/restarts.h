#pragma once

// Judges a program that restarts before one life can show a trend, by adding up the trends of its lives. Pure.

#include <span>
#include <vector>

#include "analysis/leak/floor.h"
#include "analysis/leak/leak.h"
#include "analysis/leak/statistics.h"

namespace memoir {

struct RestartsFinding {
  std::size_t lives = 0;  // number of lives that are long enough to be compared
  SlopeEstimate slope;
  double growth = 0;  // median growth within one life
  std::vector<LeakGate> gates;
  bool passed = false;
  bool warm_up = false;  // each life grows, but only at its start
};

// Takes the buckets of each life, in days relative to the end of the series; the current life is the last one. Lives
// with fewer than six blocks of six hours are omitted. With fewer than three lives, the result only has `lives`.
RestartsFinding judge_restarts(const std::vector<std::span<const LeakHour>>& lives, const LeakMetric& metric);

}  // namespace memoir
