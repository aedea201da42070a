#pragma once

// The only code that opens the cgroups' memory files, as proc_fs.h is for /proc. Its root is a parameter. If a v1
// memory controller is mounted below the root as "memory", all files are read there. Otherwise v2 is used: the root
// itself, or "unified" below it if v1 has the other controllers. The two are never mixed: the memory controller is in
// one hierarchy only, and /proc/PID/cgroup has the path in that hierarchy. Paths are escaped by escape_bytes().
// Thread-safe.
//
// The hierarchy may be mounted from an inner cgroup, as in containers without a cgroup namespace. Then only cgroups
// below the inner one have files. In a cgroup namespace, the visible mount may start above the namespace's root. Then
// no cgroup's files are found.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace memoir {

// Files of a cgroup, with their v2 names.
enum class CgroupFile : std::uint8_t {
  current,
  stat,
  swap_current,
  kernel,  // v1 only: memory.kmem.usage_in_bytes; v2 has the value in `stat`
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
  // `mounts` is the text of mountinfo.
  explicit CgroupFs(std::string root = "/sys/fs/cgroup", std::string_view mounts = {});

  // Returns the path of the cgroup at the root folder, usually "/"; empty if it is unknown.
  const std::string& top() const { return top_; }

  // Opens a file of the cgroup at `path`, in /proc/PID/cgroup's format. Returns not_found if the cgroup or the file
  // does not exist, or if the path is outside of the reader's own cgroup namespace ("/../…"). Peaks are also opened for
  // writing, if that is permitted.
  Result<Fd> open(std::string_view path, CgroupFile file) const;
  // Resets an open memory.peak or memory.swap.peak of v2, for this descriptor only. Returns not_found if the cgroup was
  // removed, and denied if the file is not writable or the kernel is older than 6.12. Also returns denied for v1, where
  // a reset would affect all readers.
  Status reset_peak(const Fd& peak) const;
  // Returns the number by which kernel events identify the cgroup: the inode of its folder. Returns not_found like
  // open().
  Result<std::uint64_t> number(std::string_view path) const;
  // Returns the names of the cgroup's direct children; empty if its folder is unreadable.
  std::vector<std::string> children(std::string_view path) const;
  // Returns whether this version of cgroups has such a file.
  bool has(CgroupFile file) const { return name_of(file) != nullptr; }

  // Returns whether the events of a cgroup include those of its descendants.
  bool counts_below() const { return !v1_; }
  bool is_v1() const { return v1_; }

 private:
  // Returns the folder of a cgroup; nullopt if it has none below the root.
  std::optional<std::string> folder(std::string_view path) const;
  const char* name_of(CgroupFile file) const;

  std::string root_;
  std::string top_ = "/";
  bool v1_ = false;
  bool real_ = false;  // the kernel's own v2; nothing is written to any other file system
};

}  // namespace memoir
