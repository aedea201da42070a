#include "analysis/machine_parts.h"

#include <algorithm>

namespace memoir {

namespace {

using P = ProcessField;
using M = MachineField;

struct PartName {
  std::string_view name;
  std::string_view title;
};

constexpr std::array<PartName, static_cast<std::size_t>(MachinePart::count_)> kNames{{
    {"processes", "processes (PSS)"},
    {"page_cache", "page cache that no process maps"},
    {"shmem", "tmpfs and shared memory that no process maps"},
    {"slab_reclaimable", "slab, reclaimable"},
    {"slab_unreclaimable", "slab, unreclaimable"},
    {"page_tables", "page tables"},
    {"kernel_stacks", "kernel stacks"},
    {"percpu", "per-CPU memory"},
    {"huge_pages", "huge page pools"},
    {"zswap", "zswap pool"},
    {"balloon", "balloon"},
    {"free", "free"},
    {"per_cpu_free", "free, on per-CPU lists"},
    {"rest", "unaccounted"},
}};

// Adds two values. An unknown `second` counts as 0; nullopt without `first`.
std::optional<std::int64_t> plus(std::optional<std::int64_t> first, std::optional<std::int64_t> second) {
  if (!first) return std::nullopt;
  return *first + second.value_or(0);
}

// Differences may be negative, because PSS and meminfo are not read at the same moment. They then count as 0.
std::int64_t not_below_0(std::int64_t kib) {
  return std::max<std::int64_t>(kib, 0);
}

}  // namespace

std::string_view to_string(MachinePart part) {
  return kNames[static_cast<std::size_t>(part)].name;
}

std::string_view machine_part_title(MachinePart part) {
  return kNames[static_cast<std::size_t>(part)].title;
}

void MappedMemory::add(const ProcessMemory& memory) {
  const std::int64_t pss = memory.or_zero(P::pss);
  pss_kib += pss;
  if (memory.has(P::pss_file) || memory.has(P::pss_shmem)) {
    file_kib += memory.or_zero(P::pss_file);
    shmem_kib += memory.or_zero(P::pss_shmem);
    return;
  }
  const std::int64_t mapped = std::max<std::int64_t>(pss - memory.or_zero(P::anonymous), 0);
  const std::int64_t shmem = memory.or_zero(P::rss_shmem);
  const std::int64_t both = shmem + memory.or_zero(P::rss_file);
  const std::int64_t share = both > 0 ? mapped * shmem / both : 0;
  shmem_kib += share;
  file_kib += mapped - share;
}

void MappedMemory::add_unsplit(std::int64_t pss, std::int64_t anonymous) {
  pss_kib += pss;
  file_kib += std::max<std::int64_t>(pss - anonymous, 0);
}

std::optional<MachineParts> machine_parts(const MachineMemory& memory, const MappedMemory& mapped) {
  const auto total = memory.get(M::mem_total);
  if (!total || !memory.has(M::mem_free)) return std::nullopt;
  MachineParts parts;
  const auto part = [&parts](MachinePart name) -> std::optional<std::int64_t>& {
    return parts[static_cast<std::size_t>(name)];
  };
  part(MachinePart::processes) = mapped.pss_kib;
  const auto shmem = memory.get(M::shmem);
  if (const auto cached = plus(memory.get(M::cached), memory.get(M::buffers))) {
    part(MachinePart::page_cache) = not_below_0(*cached - shmem.value_or(mapped.shmem_kib) - mapped.file_kib);
  }
  if (shmem) part(MachinePart::shmem) = not_below_0(*shmem - mapped.shmem_kib);
  part(MachinePart::reclaimable) = memory.get(M::slab_reclaimable);
  part(MachinePart::unreclaimable) = memory.get(M::slab_unreclaimable);
  part(MachinePart::page_tables) = plus(memory.get(M::page_tables), memory.get(M::sec_page_tables));
  part(MachinePart::kernel_stacks) = plus(memory.get(M::kernel_stack), memory.get(M::shadow_call_stack));
  part(MachinePart::percpu) = memory.get(M::percpu);
  // Hugetlb (since Linux 4.19) includes the pools of all sizes, HugePages_Total only the pool of the default size.
  part(MachinePart::huge_pages) = memory.has(M::hugetlb) ? memory.get(M::hugetlb) : memory.get(M::huge_pages_total);
  part(MachinePart::zswap) = memory.get(M::zswap);
  part(MachinePart::balloon) = memory.get(M::balloon);
  part(MachinePart::free) = memory.get(M::mem_free);
  part(MachinePart::per_cpu_free) = memory.get(M::per_cpu_free);
  std::int64_t remainder = *total;
  for (const auto& kib : parts) remainder -= kib.value_or(0);
  part(MachinePart::remainder) = remainder;
  return parts;
}

}  // namespace memoir
