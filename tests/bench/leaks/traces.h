#pragma once

// Recorded memory of real machines and services, unlabelled: read from a folder of CSV files (seconds, minimum, mean),
// never a part of the repository. A ramp of known slope makes a leak of each.

#include <optional>
#include <string>
#include <vector>

#include "analysis/leak/samples.h"

namespace memoir::bench {

struct Trace {
  std::string name;
  std::vector<LeakSample> samples;
};

// Sorted by name; empty if the folder is not there.
std::vector<Trace> read_traces(const std::string& folder);

// A ramp from 0 to `rise` over the first `part` of the trace, level after it.
Trace with_ramp(Trace trace, double rise, double part = 1);

double median_level(const Trace& trace);

}  // namespace memoir::bench
