#pragma once

// Usage and limits of cgroups at one time, by the kernel's own count, page cache and kernel memory included.

#include <optional>
#include <string>
#include <vector>

#include "query/state/command.h"
#include "query/state/state.h"

namespace memoir::query {

struct CgroupRow {
  std::string path;
  std::optional<CgroupSample> now;  // nullopt: rollups lack it
  CgroupDetail detail;              // unknown counters are nullopt
  Container container;
  Tally processes;                      // for a tick, includes descendants; for a bucket, means without descendants
  std::optional<HighWater> usage_mark;  // for a tick, the all-time mark; for a bucket, the mark of its UTC days
  std::optional<HighWater> anon_mark;
  std::optional<HighWater> swap_mark;

  std::optional<double> limit_percent() const;  // usage in percent of memory.max, or else of memory.high
};

enum class CgroupMarks { left_out, read };

// Returns cgroups sorted by path: for a tick, all cgroups with memory; for a bucket, all with processes or a mark.
Result<std::vector<CgroupRow>> load_cgroups(const Context& context, const State& state, CgroupMarks marks);

}  // namespace memoir::query
