#pragma once

// /proc/PID/cgroup: one line per hierarchy, `ID:controllers:path` (cgroups(7)).
//
//   4:memory:/system.slice/nginx.service
//   0::/system.slice/nginx.service
//
// The path may hold colons and end with " (deleted)".

#include <string_view>

#include "base/result.h"

namespace memoir {

// The path that holds the process's memory: that of the v1 memory controller if there is one, else the v2 path (`0::`),
// else the named systemd hierarchy. A view into the text. No text: gone. No such line, or it
// is torn: malformed.
Result<std::string_view> parse_cgroup(std::string_view text);

}  // namespace memoir
