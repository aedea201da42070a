#pragma once

#include <string>

#include "query/ask/zone.h"
#include "query/report/report.h"

namespace memoir::query {

// "Recorded 23 h 58 min of 24 h (8628 ticks); 2 gaps, the longest 40 s at 2026-11-20 03:12:00 (killed)."
std::string coverage_line(const Coverage& coverage, Zone zone);

}  // namespace memoir::query
