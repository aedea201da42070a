#pragma once

// /proc/vmstat: `name value` per line, counters and gauges of the memory management.
//
//   pgmajfault 321
//   oom_kill 0

#include <string_view>

#include "base/result.h"
#include "model/machine.h"

namespace memoir {

// Sets the vmstat fields of `memory` (see MachineField), all of them: one without a line becomes absent, and so does
// each on an error. Other names are passed over. No known name, or one without a whole number: malformed.
Status parse_vmstat(std::string_view text, MachineMemory& memory);

}  // namespace memoir
