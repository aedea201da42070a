#pragma once

// A cgroup's memory limits and usage. Usage includes descendants, page cache and kernel memory. Sizes are KiB. A value
// is nullopt if the kernel does not report it, or if there is no limit.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/container.h"

namespace memoir {

// Returns the parent: "/a" for "/a/b", "/" for "/a", and nothing for the root and for text that is no path. "/../a" is
// outside of the recorder's cgroup namespace; its parent is "/..", which has no known parent.
constexpr std::string_view cgroup_above(std::string_view path) {
  const std::size_t cut = path.rfind('/');
  if (path.size() <= 1 || cut == std::string_view::npos || path.substr(cut) == "/..") return {};
  return path.substr(0, cut == 0 ? 1 : cut);
}

// Paths with more components, or more bytes, are truncated.
inline constexpr std::size_t kMaxCgroupDepth = 32;
inline constexpr std::size_t kMaxCgroupBytes = 512;

// Returns the path of a descendant without a known name: "/a/…", followed by `what`.
std::string cgroup_beneath(std::string_view path, std::string_view what = {});

// Returns the path, or its longest prefix within the bounds above with a digest of the full path:
// "/a/b/…0123456789abcdef".
std::string bounded_cgroup(std::string_view path);

struct CgroupSample {
  std::string path;
  std::int64_t current_kib = 0;              // memory.current: counts against the limits
  std::optional<std::int64_t> file_kib;      // page cache in current, reclaimed before a limit is reached
  std::optional<std::int64_t> swap_kib;      // memory.swap.current; for v1 from memory.stat
  std::optional<std::int64_t> max_kib;       // memory.max, beyond which the OOM killer acts; nullopt: no limit
  std::optional<std::int64_t> high_kib;      // memory.high, beyond which processes are throttled; nullopt: no limit, or
                                             // unknown
  std::optional<std::int64_t> swap_max_kib;  // memory.swap.max; nullopt: no limit, or unknown
  // Parts of current:
  std::optional<std::int64_t> anon_kib{};    // neither file-backed nor shared
  std::optional<std::int64_t> shmem_kib{};   // tmpfs and shared memory
  std::optional<std::int64_t> kernel_kib{};  // kernel memory: stacks, page tables, slab …

  bool operator==(const CgroupSample&) const = default;
};

// Slow-changing cgroup counters. They count since the cgroup's creation. They include descendants, except own_oom_kills
// and all counters of v1.
struct CgroupDetail {
  std::string path;
  std::optional<std::int64_t> min_kib{};        // memory.min: never reclaimed for others
  std::optional<std::int64_t> low_kib{};        // memory.low: reclaimed only if no other cgroup has reclaimable memory
  std::optional<std::int64_t> peak_kib{};       // memory.peak: highest usage
  std::optional<std::int64_t> swap_peak_kib{};  // memory.swap.peak
  std::optional<std::int64_t> low_events{};     // reclaims in spite of memory.low
  std::optional<std::int64_t> high_events{};    // throttlings at memory.high
  std::optional<std::int64_t> max_events{};     // allocations that reached memory.max; v1's memory.failcnt
  std::optional<std::int64_t> oom_events{};     // allocations at memory.max that found nothing to reclaim
  std::optional<std::int64_t> oom_kills{};      // processes killed by the OOM killer; v1 omits descendants
  std::optional<std::int64_t> own_oom_kills{};  // kills without those in descendants
  std::optional<std::int64_t> psi_some_total_us{};  // memory.pressure: time in which some process waited for memory
  std::optional<std::int64_t> psi_full_total_us{};  // time in which all processes waited

  bool operator==(const CgroupDetail&) const = default;
};

// Returns whether `path` is `cgroup` or a descendant of it.
inline bool is_in_cgroup(std::string_view path, std::string_view cgroup) {
  while (cgroup.ends_with('/')) cgroup.remove_suffix(1);
  return path.starts_with(cgroup) && (path.size() == cgroup.size() || path[cgroup.size()] == '/');
}

// Known facts about a cgroup's container.
struct CgroupContainer {
  std::string path;
  Container container;

  bool operator==(const CgroupContainer&) const = default;
};

}  // namespace memoir
