#pragma once

// /proc/meminfo: the machine's memory.
//
//   MemTotal:       24684092 kB
//   HugePages_Total:       0
//
// HugePages_* are counts and are converted to KiB by Hugepagesize. Keys unknown to MachineField are kept separately.

#include <string_view>

#include "base/result.h"
#include "model/machine.h"
#include "model/odd_lines.h"

namespace memoir {

// Sets the meminfo fields of `sample.memory` and all of `sample.other`. A field without a line becomes absent, and so
// does one with a torn or repeated line or a value other than "N kB". A text without any value is malformed. An unknown
// line without a number is skipped; of a repeated unknown key the last line counts. `odd`: see key_lines.h.
Status parse_meminfo(std::string_view text, MachineSample& sample, OddLines* odd = nullptr);

}  // namespace memoir
