#pragma once

// /proc/PID/limits (getrlimit(2)): a header, then one line per limit, and /proc/PID/oom_score_adj.
//
//   Limit                     Soft Limit           Hard Limit           Units
//   Max open files            1024                 1048576              files

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/odd_lines.h"

namespace memoir {

// Returns the limits on memory, processes and files, in the form of ProcessSettings::limits. A text without any of them
// is malformed. `odd`: see key_lines.h.
Result<std::string> parse_limits(std::string_view text, OddLines* odd = nullptr);

// Parses a number from -1000 to 1000.
Result<std::int64_t> parse_oom_score_adj(std::string_view text);

}  // namespace memoir
