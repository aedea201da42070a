#pragma once

// /proc/PID/cgroup: one line per hierarchy, `ID:controllers:path` (cgroups(7)).
//
//   4:memory:/system.slice/nginx.service
//   0::/system.slice/nginx.service
//
// The path may hold colons and end with " (deleted)".

#include <string_view>

#include "base/result.h"
#include "model/odd_lines.h"

namespace memoir {

// Returns the path to which the process's memory is charged: that of the v1 memory controller if there is one,
// otherwise the v2 path (`0::`), otherwise the named systemd hierarchy. If one of the latter two is below it, that one:
// units without memory accounting are only there. A view into the text. No text: not_found. No such line: malformed.
// `odd`: see key_lines.h; it gets a line that is torn or has no path.
Result<std::string_view> parse_cgroup(std::string_view text, OddLines* odd = nullptr);

}  // namespace memoir
