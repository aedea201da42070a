#pragma once

// Judges a pool: several processes of one identity. Its sum grows if its members grow or if there are more of them. It
// may be constant although the members grow, if they are replaced. Pure.

#include <vector>

#include "analysis/leak/leak.h"

namespace memoir {

struct LeakPool {
  LeakSeries sum;                   // sum over all members
  LeakSeries count;                 // number of members
  std::vector<LeakSeries> members;  // one per member, including exited ones
};

// Returns the sum's finding, adjusted by the members:
// - If the sum grows but the average member does not, the verdict is count if the number of members passes the gates,
//   otherwise scale_out.
// - If the sum does not grow, but more than half of the members that can be judged (at least two) do, the verdict is
//   contained.
//
// A pool with a single member is judged like a series.
LeakFinding judge_pool(const LeakPool& pool, const LeakMetric& metric, const LeakSettings& settings = {},
                       const std::vector<LeakLimit>& limits = {});

// Returns the metric for the number of processes of one identity. Growth is significant from 10 processes and 20 % on.
LeakMetric process_count_metric();

}  // namespace memoir
