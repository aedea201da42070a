#pragma once

// Maps the inode numbers of cgroup folders to paths. The kernel reports an exit with only the number, and the folder
// may be deleted soon after.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "proc/cgroup_fs.h"

namespace memoir {

class CgroupNames {
 public:
  explicit CgroupNames(CgroupFs cgroups) : cgroups_(std::move(cgroups)) {}

  // Returns the number that applies in the mounted file system: `of_memory` with v1's memory controller, otherwise
  // `of_v2`.
  std::uint64_t number(std::uint64_t of_v2, std::uint64_t of_memory) const {
    return cgroups_.is_v1() ? of_memory : of_v2;
  }

  // Returns the path; empty if unknown. An unknown number causes a walk of the folders. Walks are limited to one per
  // kWalkEveryMs, and to kMaxFolders folders.
  std::string path(std::uint64_t number, std::int64_t boot_ms);
  // Remembers an existing folder, so that its path stays known after it is deleted. A recreated folder has another
  // number.
  void learn(std::string_view path);

 private:
  void walk();
  void keep(std::uint64_t number, std::string path);

  CgroupFs cgroups_;
  std::map<std::uint64_t, std::string> paths_;
  std::int64_t walked_ms_ = -1;  // boot clock, time of the last walk; -1: none
};

}  // namespace memoir
