#pragma once

// What a leak runs into: the machine's memory, and the limits of the cgroups that hold its processes. Pure.

#include <string>
#include <vector>

#include "analysis/leak/leak.h"
#include "model/cgroup.h"
#include "model/machine.h"

namespace memoir {

// MemAvailable and the free swap; none where the kernel does not say what is available.
std::vector<LeakLimit> machine_limits(const MachineMemory& memory);

// memory.max and memory.high of each cgroup that holds all of `paths`. Page cache is no obstacle, as it is given up
// first, and what may be swapped out makes room: up to memory.swap.max, as far as the machine has free swap.
std::vector<LeakLimit> cgroup_limits(const std::vector<CgroupSample>& cgroups, const std::vector<std::string>& paths,
                                     const MachineMemory& memory);

}  // namespace memoir
