#pragma once

// Splits a machine's memory as the kernel counts it: lines that do not overlap and add up to MemTotal exactly. The last
// line is the unaccounted remainder. Pure; it needs no process samples, so that the remainder is a metric.
// (analysis/machine_parts.h splits by the memory that processes map, which needs their samples.)
//
// /proc/meminfo (Documentation/filesystems/proc.rst, fs/proc/meminfo.c) counts some pages under several names:
//
//   Cached        includes Shmem, and neither Buffers nor SwapCached
//   AnonPages     includes AnonHugePages, and no Shmem
//   SwapCached    includes pages that processes map, which are in AnonPages. The LRU lists contain each page once, so
//                 their excess over AnonPages, Cached and Buffers is unmapped swap cache
//   KReclaimable  includes SReclaimable
//   VmallocUsed   pages since 5.3; 0 before. It includes kernel stacks if they are allocated by vmalloc (VMAP_STACK),
//                 never Percpu
//   MemFree       includes CmaFree and Unaccepted, and no page on a CPU's own free list (/proc/zoneinfo); since 6.7
//                 these lists may have hundreds of MiB while much is allocated and freed
//   Hugetlb       the pools of all sizes, since 4.19; older kernels have only HugePages_Total, the pool of the default
//                 size
//   Balloon       pages that a balloon driver returned to the hypervisor. If the driver also reduced MemTotal, the
//                 lines below subtract them twice
//
// MemAvailable is an estimate and not a part. The remainder contains pages of drivers, network buffers, zram, and
// counters that the kernel does not print. If it is below 0, the kernel counted that much memory twice.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "model/machine.h"

namespace memoir {

struct MemoryLine {
  std::string_view name;   // "page_cache"
  std::string_view title;  // "page cache of files"
  std::int64_t kib = 0;
  bool derived = false;  // computed from several counts; otherwise measured: one count of the kernel or the recorder
  std::string_view of;   // the line that it is a part of; empty for a line of the sum
};

inline constexpr std::string_view kUnaccounted = "unaccounted";

// Returns the known lines, each part after its whole. Memory that the kernel does not count is in the remainder. Empty
// without MemTotal.
std::vector<MemoryLine> memory_breakdown(const MachineMemory& memory);

// Returns the remainder. nullopt without MemTotal, MemFree, AnonPages or Cached: a remainder that includes one of
// these would not show leaks. nullopt also if the remainder is negative, which is possible because the kernel reads the
// counters one after the other.
std::optional<std::int64_t> unaccounted_kib(const MachineMemory& memory);

}  // namespace memoir
