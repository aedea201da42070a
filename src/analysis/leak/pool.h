#pragma once

// Several processes of one identity: a pool. Its sum grows for one of three reasons, and may be constant although its
// members grow. Pure.

#include <vector>

#include "analysis/leak/leak.h"

namespace memoir {

struct LeakPool {
  LeakSeries sum;                   // sum over all members
  LeakSeries count;                 // number of members
  std::vector<LeakSeries> members;  // one per member, exited ones included
};

// Returns the sum's finding, adjusted by the members:
// - The sum grows, the average member does not: the number of members leaks (count) if it passes the gates,
//   otherwise it is scale_out.
// - The sum does not grow, but more than half of the members that can be judged (at least two) do: contained.
//
// A single member is judged as it is.
LeakFinding judge_pool(const LeakPool& pool, const LeakMetric& metric, const LeakSettings& settings = {},
                       const std::vector<LeakLimit>& limits = {});

// Growing number of processes of one identity: 10 and 20 %.
LeakMetric process_count_metric();

}  // namespace memoir
