#pragma once

// What there was room for at the end of a range: the machine's memory, the cgroups with their limits, and who was in
// them.

#include <vector>

#include "analysis/leak/leak.h"
#include "query/leaks/groups.h"
#include "query/leaks/series.h"

namespace memoir::query {

// Where the ticks of that time are gone, only the machine's totals are known.
struct LeakRoom {
  MachineMemory machine;
  std::vector<CgroupSample> cgroups;
  std::vector<ProcessState> living;
};
Result<LeakRoom> load_room(Reader& reader, const LeakSource& source);

// What the processes of a group run into, the nearest of which decides: limits of their cgroups, and the machine's.
std::vector<LeakLimit> cgroup_limits_of(const LeakRoom& room, const Group& group);
std::vector<LeakLimit> limits_of(const LeakRoom& room, const Group& group);

}  // namespace memoir::query
