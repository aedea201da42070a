#pragma once

// A finding in plain words, and when it will hurt. Pure.

#include <optional>
#include <vector>

#include "analysis/leak/leak.h"

namespace memoir {

// Fills `reason` and `would_change`.
void explain(LeakFinding& found, const LeakSettings& settings);

// The limit that is met first, at the slope of the finding. Absent without limits.
std::optional<LeakExhaustion> exhaustion_of(const LeakFinding& found, const std::vector<LeakLimit>& limits);

}  // namespace memoir
