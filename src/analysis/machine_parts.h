#pragma once

// Where all of a machine's memory is, in parts that do not overlap and add up to MemTotal exactly: the last part is the
// rest that nothing accounts for. Pure.
//
// The kernel has no such list: /proc/meminfo (Documentation/filesystems/proc.rst) counts a page under several names.
// Cached holds tmpfs and shared memory (Shmem), and what processes map of both is in their PSS too. So the parts are
// made of PSS for what processes map, and of meminfo for the rest of it.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "model/machine.h"
#include "model/process.h"

namespace memoir {

enum class MachinePart : std::uint8_t {
  processes,      // PSS of all processes
  page_cache,     // Cached + Buffers - Shmem - the file part of PSS: what no process maps
  shmem,          // Shmem - the shmem part of PSS: tmpfs files and segments that no process maps
  reclaimable,    // SReclaimable: slab that gives way
  unreclaimable,  // SUnreclaim: slab that does not
  page_tables,    // PageTables + SecPageTables
  kernel_stacks,  // KernelStack + ShadowCallStack
  percpu,         // Percpu
  huge_pages,     // the pools of huge pages, in use or not: they are in nobody's RSS
  zswap,          // Zswap: the pool that holds compressed pages
  balloon,        // Balloon: lent to the hypervisor
  free,           // MemFree
  rest,           // MemTotal - all of these: vmalloc, drivers, firmware; and how far PSS is off where it is not exact
  count_,
};

std::string_view to_string(MachinePart part);
std::string_view machine_part_title(MachinePart part);

// Sums over all processes of one tick.
struct MappedMemory {
  std::int64_t pss_kib = 0;
  std::int64_t file_kib = 0;   // of the PSS: page cache
  std::int64_t shmem_kib = 0;  // of the PSS: tmpfs, shared memory

  // Where the kernel does not split PSS (before Linux 5.3), what is not anonymous is split as RSS is. Unknown counts as
  // 0.
  void add(const ProcessMemory& memory);
  // What is not anonymous taken for page cache: of means, which split no more.
  void add_unsplit(std::int64_t pss, std::int64_t anonymous);
};

// A part is absent where the kernel does not count it: it is in the rest then.
using MachineParts = std::array<std::optional<std::int64_t>, static_cast<std::size_t>(MachinePart::count_)>;

// Absent where MemTotal or MemFree is: nothing could be said of a rest.
std::optional<MachineParts> machine_parts(const MachineMemory& memory, const MappedMemory& mapped);

}  // namespace memoir
