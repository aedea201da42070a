#pragma once

// What a cgroup may hold of memory, and what it holds: its processes and those of the cgroups below it, page cache and
// kernel memory included. Sizes are KiB.

#include <cstdint>
#include <optional>
#include <string>

namespace memoir {

struct CgroupSample {
  std::string path;
  std::int64_t current_kib = 0;              // memory.current: what counts against the limits
  std::optional<std::int64_t> file_kib;      // of that, page cache, which is given up before a limit is hit
  std::optional<std::int64_t> swap_kib;      // memory.swap.current
  std::optional<std::int64_t> max_kib;       // memory.max, beyond which there is an OOM kill; absent: no limit
  std::optional<std::int64_t> high_kib;      // memory.high, beyond which it is slowed down; absent: none, or not known
  std::optional<std::int64_t> swap_max_kib;  // memory.swap.max; absent: no limit, or not known

  bool operator==(const CgroupSample&) const = default;
};

}  // namespace memoir
