#include "model/cgroup.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/digest.h"

namespace memoir {

std::string cgroup_beneath(std::string_view path, std::string_view what) {
  return fmt::format("{}/…{}", path == "/" ? "" : path, what);
}

std::string bounded_cgroup(std::string_view path) {
  std::size_t end = 0;
  for (std::size_t depth = 0; depth < kMaxCgroupDepth && end < path.size(); ++depth) {
    const std::size_t next = std::min(path.find('/', end + 1), path.size());
    if (next > kMaxCgroupBytes) break;
    end = next;
  }
  if (end == path.size()) return std::string(path);
  return cgroup_beneath(path.substr(0, end), fmt::format("{:016x}", digest_of(path)));
}

}  // namespace memoir
