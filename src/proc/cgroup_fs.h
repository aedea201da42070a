#pragma once

// The door to the cgroups' memory files, as proc_fs.h is to /proc. Its root is a parameter. A v1 memory controller, if
// there is one, is mounted below it as "memory"; otherwise the root is that of v2. Safe from several threads.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/result.h"

namespace memoir {

// By their names in v2. v1 has current, max and stat only.
enum class CgroupFile : std::uint8_t { current, max, high, stat, swap_current, swap_max };

class CgroupFs {
 public:
  explicit CgroupFs(std::string root = "/sys/fs/cgroup");

  // A file of the cgroup at `path`, as /proc/PID/cgroup has it; a view into `buffer`. Gone: there is no such cgroup, or
  // it has no such file; a path out of the reader's own cgroup namespace ("/../…") has none either.
  Result<std::string_view> read(std::string_view path, CgroupFile file, Buffer& buffer) const;

 private:
  std::string root_;
  bool v1_ = false;
};

}  // namespace memoir
