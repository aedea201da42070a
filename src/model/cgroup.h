#pragma once

// What a cgroup may hold of memory, and what it holds: its processes and those of the cgroups below it, page cache and
// kernel memory included. Sizes are KiB. Absent: the kernel does not tell it, or there is no limit.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/container.h"

namespace memoir {

// Of "/a/b" that is "/a", and of that "/". Nothing is above the root, nor above what is no path.
constexpr std::string_view cgroup_above(std::string_view path) {
  const std::size_t cut = path.rfind('/');
  if (path.size() <= 1 || cut == std::string_view::npos) return {};
  return path.substr(0, cut == 0 ? 1 : cut);
}

struct CgroupSample {
  std::string path;
  std::int64_t current_kib = 0;              // memory.current: what counts against the limits
  std::optional<std::int64_t> file_kib;      // of that, page cache, which is given up before a limit is hit
  std::optional<std::int64_t> swap_kib;      // memory.swap.current; of v1 what memory.stat tells
  std::optional<std::int64_t> max_kib;       // memory.max, beyond which there is an OOM kill; absent: no limit
  std::optional<std::int64_t> high_kib;      // memory.high, beyond which it is slowed down; absent: none, or not known
  std::optional<std::int64_t> swap_max_kib;  // memory.swap.max; absent: no limit, or not known
  std::optional<std::int64_t> anon_kib{};    // of current, like what follows: what no file backs and is not shared
  std::optional<std::int64_t> shmem_kib{};   // tmpfs and shared memory
  std::optional<std::int64_t> kernel_kib{};  // the kernel's own for it: stacks, page tables, slab …

  bool operator==(const CgroupSample&) const = default;
};

// What seldom moves of it. Counters are since it was made, and but for own_oom_kills (and v1's) of those below it, too.
struct CgroupDetail {
  std::string path;
  std::optional<std::int64_t> min_kib{};        // memory.min: what is never taken from it for others
  std::optional<std::int64_t> low_kib{};        // memory.low: what is taken only where nobody else has any
  std::optional<std::int64_t> peak_kib{};       // memory.peak: the most that it held
  std::optional<std::int64_t> swap_peak_kib{};  // memory.swap.peak
  std::optional<std::int64_t> low_events{};     // times that it was taken from though below memory.low,
  std::optional<std::int64_t> high_events{};    // was slowed down at memory.high,
  std::optional<std::int64_t> max_events{};     // ran against memory.max; v1's memory.failcnt
  std::optional<std::int64_t> oom_events{};     // and found nothing to give up there
  std::optional<std::int64_t> oom_kills{};      // processes that the OOM killer ended; v1 counts its own only
  std::optional<std::int64_t> own_oom_kills{};
  std::optional<std::int64_t> psi_some_total_us{};  // memory.pressure: some process waited for memory,
  std::optional<std::int64_t> psi_full_total_us{};  // and all of them did at once

  bool operator==(const CgroupDetail&) const = default;
};

// Whether a cgroup is that one or lies below it.
inline bool is_in_cgroup(std::string_view path, std::string_view cgroup) {
  while (cgroup.ends_with('/')) cgroup.remove_suffix(1);
  return path.starts_with(cgroup) && (path.size() == cgroup.size() || path[cgroup.size()] == '/');
}

// What is known of the container that a cgroup belongs to.
struct CgroupContainer {
  std::string path;
  Container container;

  bool operator==(const CgroupContainer&) const = default;
};

}  // namespace memoir
