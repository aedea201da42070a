#pragma once

// Forecasts when a growing series reaches a limit, from its current slope and the usual peaks of its readings. Pure.

#include <optional>
#include <span>
#include <vector>

#include "analysis/leak/floor.h"
#include "analysis/leak/leak.h"
#include "analysis/leak/statistics.h"

namespace memoir {

// Returns the basis of a forecast for a life that has grown with the slope `whole` for the last `days`. Slopes are per
// day of the analysis.
LeakOutlook outlook_of(std::span<const LeakHour> life, double days, const SlopeEstimate& whole);

// Returns the limit that is reached first; nullopt if there are no limits, or the series does not grow.
std::optional<LeakExhaustion> exhaustion_of(const LeakFinding& found, const std::vector<LeakLimit>& limits,
                                            const LeakSettings& settings);

}  // namespace memoir
