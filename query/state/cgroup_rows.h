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
  CgroupDetail detail;              // as far as known
  Container container;
  Tally processes;                      // for a tick including descendants; for a bucket means of its own processes
                                        // only
  std::optional<HighWater> usage_mark;  // for a tick that of all time; for a bucket that of its UTC days
  std::optional<HighWater> anon_mark;
  std::optional<HighWater> swap_mark;

  std::optional<double> limit_percent() const;  // usage in percent of memory.max, without one of memory.high
};

enum class CgroupMarks { left_out, read };

// Returns cgroups sorted by path: for a tick those with memory, for a bucket those with processes or a mark.
Result<std::vector<CgroupRow>> load_cgroups(const Context& context, const State& state, CgroupMarks marks);

}  // namespace memoir::query
