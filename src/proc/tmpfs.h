#pragma once

// The usage of a tmpfs, by statfs(2). Reaching a mount point below one of a dead server may block: call it only where
// that does not matter.

#include <cstdint>
#include <optional>

#include "proc/mountinfo.h"

namespace memoir {

// In KiB. The kernel does not count a file system without a limit.
struct TmpfsUsage {
  std::optional<std::int64_t> limit_kib = {};
  std::optional<std::int64_t> used_kib = {};
  std::optional<std::int64_t> inodes = {};  // in use

  bool operator==(const TmpfsUsage&) const = default;
};

// Returns nullopt if it is unreachable, or hidden by another mount.
std::optional<TmpfsUsage> tmpfs_room(const TmpfsMount& mount);

}  // namespace memoir
