#pragma once

// Recorded memory of real machines and services, without known truth. It is read from a folder of CSV files (seconds,
// minimum, mean), which is not part of the repository. An added ramp of known slope makes a leak of each trace.

#include <optional>
#include <string>
#include <vector>

#include "analysis/leak/samples.h"

namespace memoir::bench {

struct Trace {
  std::string name;
  std::vector<LeakSample> samples;
};

// Returns the traces sorted by name; empty if the folder does not exist.
std::vector<Trace> read_traces(const std::string& folder);

// Adds a ramp from 0 to `rise` over the first `part` of the trace; it stays at `rise` afterwards.
Trace with_ramp(Trace trace, double rise, double part = 1);

double median_level(const Trace& trace);

}  // namespace memoir::bench
