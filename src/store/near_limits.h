#pragma once

// Cgroups and tmpfs mounts that came near their limits, as far back as ticks are kept.

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/reader.h"

namespace memoir {

// A cgroup or mount at its fullest tick.
struct NearLimit {
  std::string name;  // path of the cgroup, or mount point
  std::int64_t at_ms = 0;
  std::int64_t used_kib = 0;
  std::int64_t limit_kib = 0;
  std::int64_t cache_kib = 0;  // part of used_kib: page cache, reclaimed before the limit is reached
};

// Each returns the cgroups or mounts that used at least `percent` of their limit, not counting page cache, the fullest
// first. The limit of a cgroup is the lower one of memory.max and memory.high.
Result<std::vector<NearLimit>> load_cgroups_near_limit(Reader& reader, Range range, std::int64_t percent);
Result<std::vector<NearLimit>> load_tmpfs_near_limit(Reader& reader, Range range, std::int64_t percent);

}  // namespace memoir
