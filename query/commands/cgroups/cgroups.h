#pragma once

// memoir cgroups: what cgroups held at one time by the kernel's own count, page cache and kernel memory included, and
// what they may hold. rows.cpp gathers it, columns.cpp says how it is shown.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "query/answer/command.h"
#include "query/answer/state.h"

namespace memoir::query {

Command cgroups_command();

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

// A column that rows are ranked by.
struct CgroupRank {
  std::string_view by;
  std::string_view column;
  std::string_view title;
  std::optional<double> (*value)(const CgroupRow&);
};
const CgroupRank& cgroup_rank(std::string_view by, bool rolled);
std::vector<std::string> cgroup_ranks();

// Of a tick those that hold memory, of a bucket those that a process was in or that have a mark; sorted by path.
Result<std::vector<CgroupRow>> load_cgroups(const Context& context, const State& state);

Columns<CgroupRow> cgroup_columns(bool rolled);

// As people know it: its unit, its container's name, else its path.
std::string cgroup_title(const CgroupRow& row);

}  // namespace memoir::query
