#pragma once

// Replaces an unreadable smaps_rollup by values of status, with RSS as PSS. RSS counts each mapping of a page. A
// process that maps the same memory twenty times, or twenty processes that share it, would seem to use more than
// exists. Pure.

#include <vector>

#include "model/machine.h"
#include "model/process.h"

namespace memoir {

// Sets the rollup's values from status. Without VmRSS they are unknown.
void approximate(ProcessSample& sample);

// Limits the shared memory of an approximate process to the mapped memory of the whole machine. If the sum over all
// processes would exceed the machine's memory, approximate processes share what remains after the PSS of read ones, in
// proportion to their RSS. The anonymous parts share AnonPages and the shared parts Mapped, which count each page once.
void bound_approximate(std::vector<ProcessSample>& samples, const MachineMemory& machine);

}  // namespace memoir
