#pragma once

// The paths of cgroups by their numbers, the inodes of their folders: the kernel tells the end of a process with the
// number alone, and the folder may be gone a moment later.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "proc/cgroup_fs.h"

namespace memoir {

class CgroupNames {
 public:
  explicit CgroupNames(CgroupFs cgroups) : cgroups_(std::move(cgroups)) {}

  // Of which the file system has the number: that of v2, or of the memory controller.
  std::uint64_t number(std::uint64_t of_v2, std::uint64_t of_memory) const {
    return cgroups_.is_v1() ? of_memory : of_v2;
  }

  // Empty: it is not known. An unknown number makes it look at all folders, seldom and at no more than some thousand.
  std::string path(std::uint64_t number, std::int64_t boot_ms);
  // A folder that is there now, so that its name is known when it is gone. One that is made again has another number.
  void learn(std::string_view path);

 private:
  void walk();
  void keep(std::uint64_t number, std::string path);

  CgroupFs cgroups_;
  std::map<std::uint64_t, std::string> paths_;
  std::int64_t walked_ms_ = -1;  // boot clock
};

}  // namespace memoir
