#pragma once

// Limits that a leak may reach: the machine's memory, and the limits of the cgroups of its processes. Pure.

#include <string>
#include <vector>

#include "analysis/leak/leak.h"
#include "model/cgroup.h"
#include "model/machine.h"

namespace memoir {

// The machine's headroom is MemAvailable plus free swap. Empty if the kernel does not report available memory.
std::vector<LeakLimit> machine_limits(const MachineMemory& memory);

// Returns memory.max and memory.high of each cgroup that contains all of `paths`. Page cache does not count as usage,
// because it is reclaimed first. Memory that can be swapped adds headroom: up to memory.swap.max, as far as the machine
// has free swap.
std::vector<LeakLimit> cgroup_limits(const std::vector<CgroupSample>& cgroups, const std::vector<std::string>& paths,
                                     const MachineMemory& memory);

}  // namespace memoir
