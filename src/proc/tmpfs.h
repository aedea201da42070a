#pragma once

// What a tmpfs holds, as statfs(2) says. Reaching a mount point below one of a dead server may block: to be called
// where that does not matter.

#include <cstdint>
#include <optional>

#include "proc/mountinfo.h"

namespace memoir {

// In KiB. Absent: it cannot be reached, or is hidden by another mount.
std::optional<std::int64_t> tmpfs_used_kib(const TmpfsMount& mount);

}  // namespace memoir
