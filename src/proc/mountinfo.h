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
  std::uint32_t major = 0;  // device number, which all mounts of a file system share
  std::uint32_t minor = 0;
  std::string mount_point;                     // octal escapes are decoded, as in `source`
  std::optional<std::int64_t> limit_kib = {};  // mount option size=
  bool whole = true;                           // false if only a part of the file system is visible there
  std::string source = {};                     // mounted device, as given to mount(8)
  std::vector<std::string> mounted_on = {};    // mount points below this one

  bool operator==(const TmpfsMount&) const = default;
};

// Returns the mounts of type tmpfs, sorted by device. For one device, mounts of its root come first, and short paths
// before long ones. A mount may be hidden by a later one in the same place. A text without any mount is malformed.
// `odd`: see key_lines.h.
Result<std::vector<TmpfsMount>> parse_tmpfs_mounts(std::string_view text, OddLines* odd = nullptr);

// Returns the folder of a file system that the last mount at `mount_point` shows ("/" is all of it); nullopt if nothing
// is mounted there.
std::optional<std::string> mounted_at(std::string_view text, std::string_view mount_point);

}  // namespace memoir
