#pragma once

// Replaces an unreadable smaps_rollup by values of status, with RSS as PSS. RSS counts each mapping of a page. So a
// process that maps the same memory twenty times, or twenty processes that share it, would seem to use more than
// exists. Pure.

#include <vector>

#include "model/machine.h"
#include "model/process.h"

namespace memoir {

// Sets the rollup's values from status. If status has no VmRSS, the values are unknown.
void approximate(ProcessSample& sample);

// Limits the shared memory of each approximate process to the mapped memory of the machine. The sum over all processes
// might still exceed the machine's memory. Then the approximate processes share the memory that the PSS of read
// processes leaves over, in proportion to their RSS. Their anonymous memory is limited by AnonPages and their shared
// memory by Mapped, which count each page once.
void bound_approximate(std::vector<ProcessSample>& samples, const MachineMemory& machine);

}  // namespace memoir
