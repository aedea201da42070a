#pragma once

// /proc/PID/mountinfo (proc(5)): one line per mount.
//
//   24 25 0:23 / /dev/shm rw,nosuid shared:4 - tmpfs tmpfs rw,size=24684096k

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace memoir {

struct TmpfsMount {
  std::uint32_t major = 0;  // of the device, which is one for all mounts of a file system
  std::uint32_t minor = 0;
  std::string mount_point;  // octal escapes undone

  auto operator<=>(const TmpfsMount&) const = default;  // NOLINT(modernize-use-nullptr): clang-tidy 14 misreads it
};

// The mounts of type tmpfs, sorted by device. A mount may be hidden by a later one in its place.
Result<std::vector<TmpfsMount>> parse_tmpfs_mounts(std::string_view text);

}  // namespace memoir
