#pragma once

// One tick's readings of cgroups, without a worker.

#include <string>
#include <vector>

#include "collect/cgroup/cgroup_reader.h"

namespace memoir::test {

inline void read_cgroups(CgroupReader& reader, const std::vector<CgroupMember>& members, bool refresh,
                         CollectContext& context) {
  reader.begin(members, refresh, context.tick);
  reader.read({}, context.buffer, [](const std::string&) { return true; });
  reader.report(context);
}

}  // namespace memoir::test
