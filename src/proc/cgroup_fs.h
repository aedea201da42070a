#pragma once

// The only code that opens the cgroups' memory files, as proc_fs.h is for /proc. Its root is a parameter. If a v1
// memory controller is mounted below it as "memory", all files are from there. Otherwise they are v2's, which is the
// root itself, or "unified" below it if v1 has the other controllers. Paths of the two are never mixed: the memory
// controller is in one hierarchy only, and /proc/PID/cgroup has the path in that one. Paths are escaped by
// escape_bytes(). Thread-safe.
//
// The hierarchy may be mounted from an inner cgroup, as in containers without a cgroup namespace: then only cgroups
// below that one have files. In a cgroup namespace, the visible mount of a hierarchy may start above it: then no
// cgroup's files are known.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace memoir {

// Named as in v2.
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
  // `mounts`: the text of mountinfo.
  explicit CgroupFs(std::string root = "/sys/fs/cgroup", std::string_view mounts = {});

  // The cgroup of the root folder: "/"; empty if unknown.
  const std::string& top() const { return top_; }

  // Opens a file of the cgroup at `path`, in /proc/PID/cgroup's format. not_found if there is no such cgroup or file,
  // or for a path outside of the reader's own cgroup namespace ("/../…"). Peaks are also opened for writing, if
  // permitted.
  Result<Fd> open(std::string_view path, CgroupFile file) const;
  // Resets an open memory.peak or memory.swap.peak of v2, for this descriptor only. not_found if its cgroup is removed;
  // denied if it is not writable, or the kernel cannot (before 6.12); v1 can only reset it for all readers.
  Status reset_peak(const Fd& peak) const;
  // Returns the number of a cgroup that the kernel uses in events: the inode of its folder. not_found as in open().
  Result<std::uint64_t> number(std::string_view path) const;
  // Names of its direct children; empty if unreadable.
  std::vector<std::string> children(std::string_view path) const;
  // Returns whether the hierarchy has such files.
  bool has(CgroupFile file) const { return name_of(file) != nullptr; }

  // Returns whether the events of a cgroup include those of its descendants.
  bool counts_below() const { return !v1_; }
  bool is_v1() const { return v1_; }

 private:
  // nullopt if it has none.
  std::optional<std::string> folder(std::string_view path) const;
  const char* name_of(CgroupFile file) const;

  std::string root_;
  std::string top_ = "/";
  bool v1_ = false;
  bool real_ = false;  // the kernel's own v2: no other file system is written to
};

}  // namespace memoir
