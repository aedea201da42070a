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
#include "model/odd_lines.h"

namespace memoir {

struct TmpfsMount {
  std::uint32_t major = 0;  // of the device, which all mounts of a file system share
  std::uint32_t minor = 0;
  std::string mount_point;                     // octal escapes undone, as in the source
  std::optional<std::int64_t> limit_kib = {};  // its option size=
  bool whole = true;                           // false: only a part of the file system is visible there
  std::string source = {};                     // mounted device, as given to mount(8)
  std::vector<std::string> mounted_on = {};    // paths below the mount point with other mounts on them

  bool operator==(const TmpfsMount&) const = default;
};

// The mounts of type tmpfs, sorted by device. Of one device, mounts of its root are first, then those with short paths.
// A mount may be hidden by a later one in the same place. A text without any mount is malformed. `odd`: see
// key_lines.h.
Result<std::vector<TmpfsMount>> parse_tmpfs_mounts(std::string_view text, OddLines* odd = nullptr);

// Returns the part of a file system (its folder, "/": all of it) that the last mount at a mount point shows; nullopt
// without a mount.
std::optional<std::string> mounted_at(std::string_view text, std::string_view mount_point);

}  // namespace memoir
