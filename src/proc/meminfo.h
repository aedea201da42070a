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

// Sets the meminfo fields of `sample.memory` and all of `sample.other`. A field becomes absent if its line is missing,
// torn or repeated, or has no value of the form "N kB". A text without any value is malformed. Unknown lines without a
// number are skipped; if an unknown key is repeated, its last line counts. `odd`: see key_lines.h.
Status parse_meminfo(std::string_view text, MachineSample& sample, OddLines* odd = nullptr);

}  // namespace memoir
