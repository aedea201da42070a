#include "proc/cgroup_fs.h"

#include <unistd.h>
#include <utility>

namespace memoir {
namespace {

const char* v2_name(CgroupFile file) {
  switch (file) {
    case CgroupFile::current:
      return "memory.current";
    case CgroupFile::max:
      return "memory.max";
    case CgroupFile::high:
      return "memory.high";
    case CgroupFile::stat:
      return "memory.stat";
    case CgroupFile::swap_current:
      return "memory.swap.current";
    case CgroupFile::swap_max:
      return "memory.swap.max";
    case CgroupFile::events:
      return "memory.events";
  }
  return "";
}

// nullptr: v1 has nothing like it.
const char* v1_name(CgroupFile file) {
  switch (file) {
    case CgroupFile::current:
      return "memory.usage_in_bytes";
    case CgroupFile::max:
      return "memory.limit_in_bytes";
    case CgroupFile::stat:
      return "memory.stat";
    case CgroupFile::events:
      return "memory.oom_control";
    case CgroupFile::high:
    case CgroupFile::swap_current:
    case CgroupFile::swap_max:
      break;
  }
  return nullptr;
}

bool leaves_the_tree(std::string_view path) {
  return !path.starts_with('/') || path.ends_with("/..") || path.find("/../") != std::string_view::npos;
}

}  // namespace

CgroupFs::CgroupFs(std::string root) : root_(std::move(root)) {
  const std::string memory = root_ + "/memory";
  v1_ = ::access((memory + '/' + v1_name(CgroupFile::max)).c_str(), F_OK) == 0;
  if (v1_) root_ = memory;
}

Result<Fd> CgroupFs::open(std::string_view path, CgroupFile file) const {
  const char* const name = v1_ ? v1_name(file) : v2_name(file);
  if (name == nullptr || leaves_the_tree(path)) return Error{ErrorKind::gone, "cgroup: has no such file"};
  std::string full = root_;
  full += path;
  if (!path.ends_with('/')) full += '/';
  return open_file(full += name);
}

}  // namespace memoir
