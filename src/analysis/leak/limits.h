#pragma once

// Limits that a leak may reach: the machine's memory, and the limits of the cgroups of its processes. Pure.

#include <string>
#include <vector>

#include "analysis/leak/leak.h"
#include "model/cgroup.h"
#include "model/machine.h"

namespace memoir {

// MemAvailable plus free swap; empty if the kernel does not report available memory.
std::vector<LeakLimit> machine_limits(const MachineMemory& memory);

// memory.max and memory.high of each cgroup that contains all of `paths`. Page cache does not count, since it is
// reclaimed first. Swappable memory adds headroom: up to memory.swap.max, as far as the machine has free swap.
std::vector<LeakLimit> cgroup_limits(const std::vector<CgroupSample>& cgroups, const std::vector<std::string>& paths,
                                     const MachineMemory& memory);

}  // namespace memoir
