#pragma once

// Judges a program that restarts before a trend can be seen in one life: compares its lives at the same age. Pure.

#include <span>
#include <vector>

#include "analysis/leak/floor.h"
#include "analysis/leak/leak.h"
#include "analysis/leak/statistics.h"

namespace memoir {

struct RestartsFinding {
  std::size_t lives = 0;  // lives long enough to be compared
  SlopeEstimate slope;
  double growth = 0;  // in the median life
  std::vector<LeakGate> gates;
  bool passed = false;
  bool warm_up = false;  // each life grows, but only at its start
};

// Takes each life's buckets, in days before the end of the series, the current life last. Lives with fewer than six
// blocks of six hours are left out. Returns nothing for fewer than three lives.
RestartsFinding judge_restarts(const std::vector<std::span<const LeakHour>>& lives, const LeakMetric& metric);

}  // namespace memoir
