#pragma once

// /proc/vmstat: a line `name value` for each counter and gauge of memory management.
//
//   pgmajfault 321
//   oom_kill 0

#include <string_view>

#include "base/result.h"
#include "model/machine.h"
#include "model/odd_lines.h"

namespace memoir {

// Sets all vmstat fields of `memory` (see MachineField). A field without a line, or with an odd one, becomes absent.
// Other names are skipped. A text without any value is malformed. `odd`: see key_lines.h.
Status parse_vmstat(std::string_view text, MachineMemory& memory, OddLines* odd = nullptr);

}  // namespace memoir
