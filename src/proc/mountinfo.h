#pragma once

// /proc/PID/mountinfo (proc(5)): one line per mount.
//
//   24 25 0:23 / /dev/shm rw,nosuid shared:4 - tmpfs tmpfs rw,size=24684096k

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace memoir {

struct TmpfsMount {
  std::uint32_t major = 0;  // of the device, which is one for all mounts of a file system
  std::uint32_t minor = 0;
  std::string mount_point;                     // octal escapes undone
  std::optional<std::int64_t> limit_kib = {};  // its option size=
  bool whole = true;                           // else only a part of the file system is seen there
  std::vector<std::string> mounted_on = {};    // paths below the mount point where something else is mounted

  bool operator==(const TmpfsMount&) const = default;
};

// The mounts of type tmpfs, sorted by device; of a device those of the whole come first, and of these the shortest. A
// mount may be hidden by a later one in its place.
Result<std::vector<TmpfsMount>> parse_tmpfs_mounts(std::string_view text);

}  // namespace memoir
