#pragma once

// /proc/PID/smaps_rollup: the sums over all mappings of a process.
//
//   5598cb96d000-7ffc804e8000 ---p 00000000 00:00 0                          [rollup]
//   Rss:                1612 kB
//   Pss:                 750 kB
//
// Which lines there are depends on the kernel; an unknown one is passed over, a missing one is absent.

#include <string_view>

#include "base/result.h"
#include "model/process.h"

namespace memoir {

// Sets the rollup fields of `memory`, all of them: one without a line becomes absent, and so does each on an error. The
// other fields are left alone. No text at all: gone (the process exited between open and read, or executed another
// image). No known line, or a known one that is not a whole "N kB": malformed, with the line.
Status parse_smaps_rollup(std::string_view text, ProcessMemory& memory);

}  // namespace memoir
