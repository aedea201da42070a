#pragma once

// How full a tmpfs is, as statfs(2) says. Reaching a mount point below one of a dead server may block: to be called
// where that does not matter.

#include <cstdint>
#include <optional>

#include "proc/mountinfo.h"

namespace memoir {

// In KiB. A file system without a limit is not counted by the kernel.
struct TmpfsRoom {
  std::optional<std::int64_t> limit_kib = {};
  std::optional<std::int64_t> used_kib = {};
  std::optional<std::int64_t> inodes = {};  // in use

  bool operator==(const TmpfsRoom&) const = default;
};

// Absent: it cannot be reached, or is hidden by another mount.
std::optional<TmpfsRoom> tmpfs_room(const TmpfsMount& mount);

}  // namespace memoir
