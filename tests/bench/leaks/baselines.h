#pragma once

// What others do, written from the descriptions of their rules, simplified where these say little: beside each, what
// was left out. All of them see the same series as our analysis, by its means.

#include <functional>
#include <string>
#include <vector>

#include "analysis/leak/leak.h"

namespace memoir::bench {

struct Baseline {
  std::string name;
  std::function<bool(const LeakSeries& series, double limit)> alarms;
};

const std::vector<Baseline>& baselines();

}  // namespace memoir::bench
