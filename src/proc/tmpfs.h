#pragma once

// What the tmpfs mounts hold, as statfs(2) says. Reaching a mount point below one of a dead server may block: to be
// called where that does not matter.

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "proc/mountinfo.h"

namespace memoir {

// The sum over the file systems, each counted once, in KiB. What cannot be reached, or is hidden by another mount, is
// left out.
std::int64_t tmpfs_used_kib(const std::vector<TmpfsMount>& mounts);

}  // namespace memoir
