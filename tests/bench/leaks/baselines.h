#pragma once

// Rules of other programs, written from their descriptions and simplified where the descriptions are short; each names
// what it omits. All rules get the same series as Memoir's analysis, as means.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/leak/leak.h"

namespace memoir::bench {

// The time until the limit is reached; nullopt if it is not reached, or only after the horizon.
using Forecast = std::function<std::optional<LeakInterval>(const LeakSeries& series, double limit)>;

struct Baseline {
  std::string name;
  std::function<bool(const LeakSeries& series, double limit)> alarms;
  Forecast forecast;  // empty if the rule has no forecast
};

const std::vector<Baseline>& baselines();

}  // namespace memoir::bench
