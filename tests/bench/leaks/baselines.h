#pragma once

// Rules of other programs, written from their descriptions and simplified where these are short; each names what it
// leaves out. All get the same series as Memoir's analysis, as means.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/leak/leak.h"

namespace memoir::bench {

// Time until the limit is reached; nullopt if it is not, or not soon.
using Forecast = std::function<std::optional<LeakInterval>(const LeakSeries& series, double limit)>;

struct Baseline {
  std::string name;
  std::function<bool(const LeakSeries& series, double limit)> alarms;
  Forecast forecast;  // empty: the rule has none
};

const std::vector<Baseline>& baselines();

}  // namespace memoir::bench
