#pragma once

// Where all of a machine's memory is, as the kernel counts it: lines that do not overlap and add up to MemTotal
// exactly, since the last is the rest that nothing accounts for. Pure, and of the machine alone: so the rest is a
// metric. (analysis/machine_parts.h splits by what processes map, which needs their samples.)
//
// /proc/meminfo (Documentation/filesystems/proc.rst, fs/proc/meminfo.c) counts some pages under several names:
//
//   Cached        holds Shmem, and neither Buffers nor SwapCached
//   AnonPages     holds AnonHugePages, and no Shmem
//   SwapCached    holds pages that processes map, which are in AnonPages. The LRU lists hold each page once: what they
//                 have beyond AnonPages, Cached and Buffers is swap cache that nobody maps
//   KReclaimable  holds SReclaimable
//   VmallocUsed   pages since 5.3; 0 before. Kernel stacks are in it where vmalloc makes them (VMAP_STACK),
//                 Percpu never is
//   MemFree       holds CmaFree and Unaccepted, and no page on a processor's own list of free ones: those are in the
//                 rest, and since 6.7 they may be hundreds of MiB while much is allocated and freed
//   Hugetlb       the pools of all sizes since 4.19; before HugePages_Total, that of the default size
//   Balloon       pages of a balloon that MemTotal may lack: then they are counted twice
//
// MemAvailable is an estimate, and no part of it. In the rest are pages that drivers took, network buffers, zram, and
// whatever a line counts that the kernel does not print. Below 0 the kernel counted that much twice.

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
  bool derived = false;  // from several counts; else measured: one count of the kernel or the recorder
  std::string_view of;   // the line that it is a part of; empty: it is one of the sum
};

inline constexpr std::string_view kUnaccounted = "unaccounted";

// Those that are known, each part below its whole. A line that the kernel does not count is in the rest. Empty where
// MemTotal is not known.
std::vector<MemoryLine> memory_breakdown(const MachineMemory& memory);

// The rest as a series. Absent without MemTotal, MemFree, AnonPages and Cached too: a rest that holds one of these
// would tell nothing of leaks.
std::optional<std::int64_t> unaccounted_kib(const MachineMemory& memory);

}  // namespace memoir
