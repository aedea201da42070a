#pragma once

// Reads the usage of a tmpfs by statfs(2). The call may block if the path to the mount point crosses a network file
// system whose server is down: use it only where that does not matter.

#include <cstdint>
#include <optional>

#include "proc/mountinfo.h"

namespace memoir {

// Sizes in KiB. The kernel does not count the usage of a file system without a limit.
struct TmpfsUsage {
  std::optional<std::int64_t> limit_kib = {};
  std::optional<std::int64_t> used_kib = {};
  std::optional<std::int64_t> inodes = {};  // number of inodes in use

  bool operator==(const TmpfsUsage&) const = default;
};

// Returns nullopt if the mount is unreachable, or hidden by another mount.
std::optional<TmpfsUsage> tmpfs_room(const TmpfsMount& mount);

}  // namespace memoir
