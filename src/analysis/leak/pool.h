#pragma once

// Several processes of one identity: a pool. Its sum grows for one of three reasons, and may stand still although its
// members grow. Pure.

#include <vector>

#include "analysis/leak/leak.h"

namespace memoir {

struct LeakPool {
  LeakSeries sum;                   // of what all members hold
  LeakSeries count;                 // how many they are
  std::vector<LeakSeries> members;  // each one's own, the ended ones too
};

// The sum's finding, but for what the members say:
// - the sum grows, what one member holds on average does not: ever more members leak (count), if their number passes
// the
//   gates, else it is scale_out;
// - the sum does not grow, but more than half of the members that can be judged (two at least) do: contained.
// A series of one member alone is judged as it is.
LeakFinding judge_pool(const LeakPool& pool, const LeakMetric& metric, const LeakSettings& settings = {},
                       const std::vector<LeakLimit>& limits = {});

// Ever more processes of one identity: 10 and 20 %.
LeakMetric process_count_metric();

}  // namespace memoir
