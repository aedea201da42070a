#pragma once

// The door to the cgroups' memory files, as proc_fs.h is to /proc. Its root is a parameter. Where a v1 memory
// controller is mounted below it as "memory", all files are that one's; else those of v2, which is the root itself, or
// "unified" below it where v1 has the other controllers. Paths of both are never mixed: the memory controller is in one
// hierarchy only, and /proc/PID/cgroup tells the path in that one. Safe from several threads.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace memoir {

// By their names in v2.
enum class CgroupFile : std::uint8_t {
  current,
  stat,
  swap_current,
  kernel,  // v1 only: memory.kmem.usage_in_bytes, which v2 has in its stat
  max,
  high,
  swap_max,
  min,
  low,
  peak,
  swap_peak,
  events,  // v1: memory.oom_control
  events_local,
  failures,  // v1 only: memory.failcnt
  pressure,
};

inline constexpr std::size_t kCgroupFiles = static_cast<std::size_t>(CgroupFile::pressure) + 1;

class CgroupFs {
 public:
  explicit CgroupFs(std::string root = "/sys/fs/cgroup");

  // A file of the cgroup at `path`, as /proc/PID/cgroup has it. Gone: there is no such cgroup, or it has no such file;
  // a path out of the reader's own cgroup namespace ("/../…") has none either.
  // Peaks are opened for writing as well, where that is permitted.
  Result<Fd> open(std::string_view path, CgroupFile file) const;
  // Makes an open memory.peak or memory.swap.peak of v2 tell the highest from now on, for this descriptor alone. Gone:
  // its cgroup is. Denied: it may not be written, or the kernel cannot (before 6.12); v1 could do it for everybody
  // only.
  Status reset_peak(const Fd& peak) const;
  // The number of a cgroup, which the kernel tells by: the inode of its folder. Gone: as of open().
  Result<std::uint64_t> number(std::string_view path) const;
  // The names of those directly below it; none where that may not be read.
  std::vector<std::string> children(std::string_view path) const;
  // Whether the hierarchy has such files.
  bool has(CgroupFile file) const { return name_of(file) != nullptr; }

  // Whether the events of a cgroup count those of the cgroups below it, too.
  bool counts_below() const { return !v1_; }
  bool is_v1() const { return v1_; }

 private:
  std::string folder(std::string_view path) const;
  const char* name_of(CgroupFile file) const;

  std::string root_;
  bool v1_ = false;
  bool real_ = false;  // the kernel's own v2: nothing else is written to
};

}  // namespace memoir
