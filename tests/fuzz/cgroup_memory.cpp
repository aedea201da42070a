#include "proc/cgroup_memory.h"

#include "fuzz/require.h"
#include "fuzz/targets.h"

void memoir::fuzz::cgroup_memory(std::string_view text) {
  const auto limit = parse_cgroup_limit(text);
  if (limit) {
    require(!*limit || **limit >= 0, "no limit is negative");
  } else {
    require_good(limit.error(), text);
  }
  const auto kills = parse_cgroup_oom_kills(text);
  if (kills) {
    require(!*kills || **kills >= 0, "no count is negative");
  } else {
    require_good(kills.error(), text);
  }
  for (const auto& size : {parse_cgroup_usage(text), parse_cgroup_file_cache(text)}) {
    if (size) {
      require(*size >= 0, "no size is negative");
    } else {
      require_good(size.error(), text);
    }
  }
}
