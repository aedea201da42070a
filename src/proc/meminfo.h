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

// Sets the meminfo fields of `sample.memory` and all of `sample.other`: what has no line becomes absent, and so does
// everything on an error. Without MemTotal, or with a known line that is torn or not "N kB": malformed. An unknown line
// without a number is passed over.
Status parse_meminfo(std::string_view text, MachineSample& sample);

}  // namespace memoir
