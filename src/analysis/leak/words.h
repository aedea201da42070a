#pragma once

// Explains a finding in plain words. Pure.

#include "analysis/leak/leak.h"

namespace memoir {

// Fills `reason`, `would_change` and `worth`.
void explain(LeakFinding& found, const LeakSettings& settings);

}  // namespace memoir
