#pragma once

// Splits a machine's memory into parts that do not overlap and add up to MemTotal exactly. The last part is the
// unaccounted remainder. Pure.
//
// The kernel has no such list: /proc/meminfo (Documentation/filesystems/proc.rst) counts a page under several names.
// Cached includes tmpfs and shared memory (Shmem), and the PSS of processes includes the mapped part of both. So PSS
// gives the part that processes map, and meminfo gives the remainder.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "model/machine.h"
#include "model/process.h"

namespace memoir {

enum class MachinePart : std::uint8_t {
  processes,      // PSS of all processes
  page_cache,     // Cached + Buffers - Shmem - the file part of PSS: page cache that no process maps
  shmem,          // Shmem - the shmem part of PSS: tmpfs files and segments that no process maps
  reclaimable,    // SReclaimable: slab that can be reclaimed
  unreclaimable,  // SUnreclaim: slab that cannot be reclaimed
  page_tables,    // PageTables + SecPageTables
  kernel_stacks,  // KernelStack + ShadowCallStack
  percpu,         // Percpu
  huge_pages,     // pools of huge pages, used or free; not part of any RSS
  zswap,          // Zswap: the pool that holds compressed pages
  balloon,        // Balloon: lent to the hypervisor
  free,           // MemFree
  per_cpu_free,   // free pages on the per-CPU lists
  remainder,      // MemTotal - all other parts: vmalloc, drivers, firmware, and the error of inexact PSS
  count_,
};

std::string_view to_string(MachinePart part);
std::string_view machine_part_title(MachinePart part);

// Sums over all processes of one tick.
struct MappedMemory {
  std::int64_t pss_kib = 0;
  std::int64_t file_kib = 0;   // part of the PSS: page cache
  std::int64_t shmem_kib = 0;  // part of the PSS: tmpfs, shared memory

  // Adds a process. If the kernel does not divide PSS (before Linux 5.3), the part that is not anonymous is divided in
  // the same proportion as RSS. Unknown values count as 0.
  void add(const ProcessMemory& memory);
  // Adds a mean PSS that is known only in total and in its anonymous part. The other part counts as page cache.
  void add_unsplit(std::int64_t pss, std::int64_t anonymous);
};

// A part that the kernel does not count is absent, and included in the remainder.
using MachineParts = std::array<std::optional<std::int64_t>, static_cast<std::size_t>(MachinePart::count_)>;

// Returns nullopt without MemTotal or MemFree, because the remainder would be unknown.
std::optional<MachineParts> machine_parts(const MachineMemory& memory, const MappedMemory& mapped);

}  // namespace memoir
