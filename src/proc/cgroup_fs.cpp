#include "proc/cgroup_fs.h"

#include <array>
#include <unistd.h>
#include <utility>

namespace memoir {
namespace {

// nullptr: it has nothing like it.
struct FileNames {
  const char* v2 = nullptr;
  const char* v1 = nullptr;
};

// In the order of CgroupFile.
constexpr std::array<FileNames, kCgroupFiles> kFileNames{{
    {"memory.current", "memory.usage_in_bytes"},
    {"memory.stat", "memory.stat"},
    {"memory.swap.current", nullptr},
    {nullptr, "memory.kmem.usage_in_bytes"},
    {"memory.max", "memory.limit_in_bytes"},
    {"memory.high", nullptr},
    {"memory.swap.max", nullptr},
    {"memory.min", nullptr},
    {"memory.low", nullptr},
    {"memory.peak", "memory.max_usage_in_bytes"},
    {"memory.swap.peak", nullptr},
    {"memory.events", "memory.oom_control"},
    {"memory.events.local", nullptr},
    {nullptr, "memory.failcnt"},
    {"memory.pressure", nullptr},
}};

bool leaves_the_tree(std::string_view path) {
  return !path.starts_with('/') || path.ends_with("/..") || path.find("/../") != std::string_view::npos;
}

bool exists(const std::string& path) {
  return ::access(path.c_str(), F_OK) == 0;
}

}  // namespace

CgroupFs::CgroupFs(std::string root) : root_(std::move(root)) {
  const std::string memory = root_ + "/memory";
  const std::string unified = root_ + "/unified";
  v1_ = exists(memory + "/memory.limit_in_bytes");
  if (v1_) {
    root_ = memory;
  } else if (!exists(root_ + "/cgroup.controllers") && exists(unified + "/cgroup.controllers")) {
    root_ = unified;
  }
}

const char* CgroupFs::name_of(CgroupFile file) const {
  const FileNames& names = kFileNames.at(static_cast<std::size_t>(file));
  return v1_ ? names.v1 : names.v2;
}

Result<Fd> CgroupFs::open(std::string_view path, CgroupFile file) const {
  const char* const name = name_of(file);
  if (name == nullptr || leaves_the_tree(path)) return Error{ErrorKind::gone, "cgroup: has no such file"};
  std::string full = root_;
  full += path;
  if (!path.ends_with('/')) full += '/';
  return open_file(full += name);
}

}  // namespace memoir
