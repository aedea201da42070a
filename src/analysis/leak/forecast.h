#pragma once

// Forecasts when a growing series reaches a limit: from its slope now and the usual peaks of its readings. Pure.

#include <optional>
#include <span>
#include <vector>

#include "analysis/leak/floor.h"
#include "analysis/leak/leak.h"
#include "analysis/leak/statistics.h"

namespace memoir {

// Returns what a forecast starts from, for growth in the last `days` of a life with the slope `whole`. All per day of
// the analysis.
LeakOutlook outlook_of(std::span<const LeakHour> life, double days, const SlopeEstimate& whole);

// Returns the limit that is reached first. nullopt without limits.
std::optional<LeakExhaustion> exhaustion_of(const LeakFinding& found, const std::vector<LeakLimit>& limits,
                                            const LeakSettings& settings);

}  // namespace memoir
