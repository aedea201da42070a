#pragma once

// /proc/PID/smaps_rollup: the sums over all mappings of a process.
//
//   5598cb96d000-7ffc804e8000 ---p 00000000 00:00 0                          [rollup]
//   Rss:                1612 kB
//   Pss:                 750 kB
//
// The lines depend on the kernel: unknown lines are skipped, and fields of missing lines are absent.

#include <string_view>

#include "base/result.h"
#include "model/odd_lines.h"
#include "model/process.h"

namespace memoir {

// Sets all rollup fields of `memory`. A field without a line, or with an odd one, becomes absent. The other fields of
// `memory` keep their values. An empty text is not_found: the process has exited between open and read, or has executed
// another image. A text without any value is malformed. `odd`: see key_lines.h.
Status parse_smaps_rollup(std::string_view text, ProcessMemory& memory, OddLines* odd = nullptr);

}  // namespace memoir
