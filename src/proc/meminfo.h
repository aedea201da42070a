#pragma once

// /proc/meminfo: the machine's memory.
//
//   MemTotal:       24684092 kB
//   HugePages_Total:       0
//
// HugePages_* are counts and become KiB by Hugepagesize. A key that MachineField does not know is kept beside.

#include <string_view>

#include "base/result.h"
#include "model/machine.h"

namespace memoir {

// Sets the meminfo fields of `sample.memory` and all of `sample.other`. Without MemTotal, or a line without a number:
// malformed.
Status parse_meminfo(std::string_view text, MachineSample& sample);

}  // namespace memoir
