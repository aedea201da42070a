#pragma once

// Usage of cgroups against their limits.

#include <algorithm>
#include <cstdint>
#include <optional>

#include "model/cgroup.h"

namespace memoir {

// Usage that is not reclaimed before a limit is reached.
inline std::int64_t without_cache_kib(const CgroupSample& cgroup) {
  return std::max<std::int64_t>(cgroup.current_kib - cgroup.file_kib.value_or(0), 0);
}

// The lower one of memory.max and memory.high; nullopt without a limit.
inline std::optional<std::int64_t> lower_limit_kib(const CgroupSample& cgroup) {
  if (!cgroup.max_kib || !cgroup.high_kib) return cgroup.max_kib ? cgroup.max_kib : cgroup.high_kib;
  return std::min(*cgroup.max_kib, *cgroup.high_kib);
}

}  // namespace memoir
