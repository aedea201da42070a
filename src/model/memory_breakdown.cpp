#include "model/memory_breakdown.h"

#include <algorithm>
#include <array>

namespace memoir {
namespace {

using M = MachineField;
using Kib = std::optional<std::int64_t>;

template <M field>
Kib of_field(const MachineMemory& memory) {
  return memory.get(field);
}

// A part larger than its whole is a contradiction, so the remainder is unknown.
Kib not_negative(std::int64_t kib) {
  return kib < 0 ? std::nullopt : Kib(kib);
}

Kib page_cache(const MachineMemory& memory) {
  if (!memory.has(M::cached)) return std::nullopt;
  return not_negative(memory.or_zero(M::cached) - memory.or_zero(M::shmem));
}

// Unlike Shmem, the fields tmpfs and sysv include swap.
Kib other_shmem(const MachineMemory& memory) {
  if (!memory.has(M::shmem) || !(memory.has(M::tmpfs) || memory.has(M::sysv))) return std::nullopt;
  return not_negative(memory.or_zero(M::shmem) - memory.or_zero(M::tmpfs) - memory.or_zero(M::sysv));
}

Kib unmapped_swap_cache(const MachineMemory& memory) {
  for (const M needed : {M::swap_cached, M::active, M::inactive, M::anon_pages, M::cached})
    if (!memory.has(needed)) return std::nullopt;
  const std::int64_t lists = memory.or_zero(M::active) + memory.or_zero(M::inactive) + memory.or_zero(M::unevictable);
  const std::int64_t known = memory.or_zero(M::anon_pages) + memory.or_zero(M::cached) + memory.or_zero(M::buffers);
  return std::min(std::max<std::int64_t>(lists - known, 0), memory.or_zero(M::swap_cached));
}

Kib other_reclaimable(const MachineMemory& memory) {
  if (!memory.has(M::kernel_reclaimable) || !memory.has(M::slab_reclaimable)) return std::nullopt;
  return not_negative(memory.or_zero(M::kernel_reclaimable) - memory.or_zero(M::slab_reclaimable));
}

// VmallocUsed below the size of the stacks does not include them.
Kib vmalloc(const MachineMemory& memory) {
  const std::int64_t used = memory.or_zero(M::vmalloc_used);
  if (used == 0) return std::nullopt;
  const std::int64_t stacks = memory.or_zero(M::kernel_stack) + memory.or_zero(M::shadow_call_stack);
  return used < stacks ? used : used - stacks;
}

Kib huge_pages(const MachineMemory& memory) {
  return memory.has(M::hugetlb) ? memory.get(M::hugetlb) : memory.get(M::huge_pages_total);
}

struct LineKind {
  std::string_view name;
  std::string_view title;
  Kib (*of_machine)(const MachineMemory&);
  bool derived = false;
  std::string_view of = {};
};

constexpr std::array kLines{
    LineKind{"free", "free", of_field<M::mem_free>},
    LineKind{"free_cma", "kept for devices (CMA)", of_field<M::cma_free>, false, "free"},
    LineKind{"unaccepted", "not accepted yet", of_field<M::unaccepted>, false, "free"},
    LineKind{"per_cpu_free", "free, on per-CPU lists", of_field<M::per_cpu_free>},
    LineKind{"anon", "anonymous, of processes", of_field<M::anon_pages>},
    LineKind{"anon_huge_pages", "huge pages", of_field<M::anon_huge_pages>, false, "anon"},
    LineKind{"page_cache", "page cache of files", page_cache, true},
    LineKind{"file_huge_pages", "huge pages", of_field<M::file_huge_pages>, false, "page_cache"},
    LineKind{"buffers", "buffers of block devices", of_field<M::buffers>},
    LineKind{"shmem", "tmpfs and shared memory", of_field<M::shmem>},
    LineKind{"tmpfs", "files in tmpfs", of_field<M::tmpfs>, false, "shmem"},
    LineKind{"sysv", "SysV segments", of_field<M::sysv>, false, "shmem"},
    LineKind{"other_shmem", "other (memfd, shared anon, tmpfs elsewhere)", other_shmem, true, "shmem"},
    LineKind{"swap_cache", "unmapped swap cache", unmapped_swap_cache, true},
    LineKind{"slab_reclaimable", "slab, reclaimable", of_field<M::slab_reclaimable>},
    LineKind{"slab_unreclaimable", "slab, unreclaimable", of_field<M::slab_unreclaimable>},
    LineKind{"other_reclaimable", "other reclaimable of the kernel", other_reclaimable, true},
    LineKind{"page_tables", "page tables", of_field<M::page_tables>},
    LineKind{"sec_page_tables", "page tables of guests and IOMMU", of_field<M::sec_page_tables>},
    LineKind{"kernel_stacks", "kernel stacks", of_field<M::kernel_stack>},
    LineKind{"shadow_call_stacks", "shadow call stacks", of_field<M::shadow_call_stack>},
    LineKind{"percpu", "per-CPU memory", of_field<M::percpu>},
    LineKind{"vmalloc", "vmalloc except kernel stacks", vmalloc, true},
    LineKind{"huge_pages", "huge page pools", huge_pages},
    LineKind{"huge_pages_free", "free (default size)", of_field<M::huge_pages_free>, false, "huge_pages"},
    LineKind{"zswap", "zswap pool", of_field<M::zswap>},
    LineKind{"bounce", "bounce buffers", of_field<M::bounce>},
    LineKind{"writeback_tmp", "write buffers of FUSE", of_field<M::writeback_tmp>},
    LineKind{"hardware_corrupted", "broken (HardwareCorrupted)", of_field<M::hardware_corrupted>},
    LineKind{"balloon", "balloon", of_field<M::balloon>},
};

// A torn or foreign file may hold any number: a part is capped at the largest possible memory of a machine.
std::int64_t rest_of(const MachineMemory& memory) {
  constexpr std::int64_t most = std::int64_t{1} << 55;
  std::int64_t rest = std::min(memory.or_zero(M::mem_total), most);
  for (const LineKind& line : kLines)
    if (line.of.empty()) rest -= std::clamp(line.of_machine(memory).value_or(0), -most, most);
  return rest;
}

}  // namespace

std::vector<MemoryLine> memory_breakdown(const MachineMemory& memory) {
  std::vector<MemoryLine> lines;
  if (!memory.has(M::mem_total)) return lines;
  lines.reserve(kLines.size() + 1);
  for (const LineKind& line : kLines) {
    if (const Kib kib = line.of_machine(memory)) lines.push_back({line.name, line.title, *kib, line.derived, line.of});
  }
  const std::int64_t rest = rest_of(memory);
  lines.push_back({kUnaccounted, "unaccounted", rest, true, {}});
  return lines;
}

std::optional<std::int64_t> unaccounted_kib(const MachineMemory& memory) {
  for (const M needed : {M::mem_total, M::mem_free, M::anon_pages, M::cached})
    if (!memory.has(needed)) return std::nullopt;
  const std::int64_t rest = rest_of(memory);
  return rest < 0 ? std::nullopt : std::optional(rest);
}

}  // namespace memoir
