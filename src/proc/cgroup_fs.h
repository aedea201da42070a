#pragma once

// The door to the cgroups' memory files, as proc_fs.h is to /proc. Its root is a parameter. A v1 memory controller, if
// there is one, is mounted below it as "memory"; otherwise the root is that of v2. Safe from several threads.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/result.h"

namespace memoir {

// By their names in v2. v1 has current, max, stat and events (memory.oom_control) only.
enum class CgroupFile : std::uint8_t { current, max, high, stat, swap_current, swap_max, events };

inline constexpr std::size_t kCgroupFiles = static_cast<std::size_t>(CgroupFile::events) + 1;

class CgroupFs {
 public:
  explicit CgroupFs(std::string root = "/sys/fs/cgroup");

  // A file of the cgroup at `path`, as /proc/PID/cgroup has it. Gone: there is no such cgroup, or it has no such file;
  // a path out of the reader's own cgroup namespace ("/../…") has none either.
  Result<Fd> open(std::string_view path, CgroupFile file) const;

  // Whether the events of a cgroup count those of the cgroups below it, too.
  bool counts_below() const { return !v1_; }

 private:
  std::string root_;
  bool v1_ = false;
};

}  // namespace memoir
