#pragma once

// /proc/PID/cgroup: one line per hierarchy, `ID:controllers:path` (cgroups(7)).
//
//   4:memory:/system.slice/nginx.service
//   0::/system.slice/nginx.service
//
// The path may contain colons and end with " (deleted)".

#include <string_view>

#include "base/result.h"
#include "model/odd_lines.h"

namespace memoir {

// Returns the path of the cgroup to which the process's memory is charged, as a view into the text. The path comes from
// the line of the v1 memory controller, otherwise of v2 (`0::`), otherwise of the named systemd hierarchy. A v2 or
// systemd path below the chosen one is returned instead, because units without memory accounting exist only there. An
// empty text is not_found; a text without a usable line is malformed. `odd` (key_lines.h) gets lines that are torn or
// have no path.
Result<std::string_view> parse_cgroup(std::string_view text, OddLines* odd = nullptr);

}  // namespace memoir
