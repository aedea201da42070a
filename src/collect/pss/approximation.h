#pragma once

// What stands in for smaps_rollup where it could not be read: the numbers of status, RSS for PSS. Each mapping of a
// page counts in RSS, so that a process which maps the same memory twenty times, or twenty that share it, would seem to
// hold more than there is. Pure.

#include <vector>

#include "model/machine.h"
#include "model/process.h"

namespace memoir {

// Puts the numbers of status in the place of the rollup's. Without VmRSS nothing is known.
void approximate(ProcessSample& sample);

// Shared memory of one approximate process is at most what the machine has mapped at all. And where all processes
// together would hold more than the machine has, the approximate ones get what it has mapped beside the PSS of those
// that were read, in proportion to their RSS: anonymous memory of AnonPages, shared memory of Mapped, which count each
// page once.
void bound_approximate(std::vector<ProcessSample>& samples, const MachineMemory& machine);

}  // namespace memoir
