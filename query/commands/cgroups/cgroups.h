#pragma once

// memoir cgroups: what cgroups held at one time by the kernel's own count, page cache and kernel memory included, and
// what they may hold; columns.cpp says how it is shown.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "query/state/cgroup_rows.h"
#include "query/state/command.h"

namespace memoir::query {

// A column that rows are ranked by.
struct CgroupRank {
  std::string_view by;
  std::string_view column;
  std::string_view title;
  std::optional<double> (*value)(const CgroupRow&);
};
const CgroupRank& cgroup_rank(std::string_view by, bool counted);
std::vector<std::string> cgroup_ranks();

Columns<CgroupRow> cgroup_columns(bool counted);

}  // namespace memoir::query
