#pragma once

// What cgroups held at one time by the kernel's own count, page cache and kernel memory included, and what they may
// hold.

#include <optional>
#include <string>
#include <vector>

#include "query/state/command.h"
#include "query/state/state.h"

namespace memoir::query {

struct CgroupRow {
  std::string path;
  std::optional<CgroupSample> now;  // absent: rollups do not have it
  CgroupDetail detail;              // as far as it is known
  Container container;
  Tally processes;                      // of a tick in it and below it; of a bucket means of those in it alone
  std::optional<HighWater> usage_mark;  // of a tick that of all time; of a bucket that of its UTC days
  std::optional<HighWater> anon_mark;
  std::optional<HighWater> swap_mark;

  std::optional<double> limit_percent() const;  // of memory.max, else of memory.high
};

enum class CgroupMarks { left_out, read };

// Of a tick those that hold memory, of a bucket those that a process was in or that have a mark; sorted by path.
Result<std::vector<CgroupRow>> load_cgroups(const Context& context, const State& state, CgroupMarks marks);

}  // namespace memoir::query
