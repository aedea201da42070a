#pragma once

// The machine's own memory at one tick, from /proc/meminfo, /proc/vmstat, /proc/pressure/memory, /proc/sysvipc/shm and
// the tmpfs mounts.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/field_set.h"

namespace memoir {

// The machine's fields: name, key as the kernel prints it, column.
//
// /proc/meminfo (Documentation/filesystems/proc.rst): KiB. Hugepage counts are multiplied by Hugepagesize.
//
// /proc/vmstat: counters since boot, as printed (events; pages for pg*, pswp*). Its nr_* gauges are left out: meminfo
// has the same values in KiB.
//
// /proc/pressure/memory (Documentation/accounting/psi.rst): averages in basis points (1/100 of a percent), total in µs.
//
// Parts of shmem: KiB, with what was swapped out of them. Of /proc/sysvipc/shm all segments of the recorder's IPC
// namespace; statfs(2) of the tmpfs that the recorder's mount namespace shows.
#define MEMOIR_MACHINE_FIELDS(FIELD)                                                                     \
  /* /proc/meminfo */                                                                                    \
  FIELD(mem_total, "MemTotal", "mem_total_kib")                                                          \
  FIELD(mem_free, "MemFree", "mem_free_kib")                                                             \
  FIELD(mem_available, "MemAvailable", "mem_available_kib")                                              \
  FIELD(buffers, "Buffers", "buffers_kib")                                                               \
  FIELD(cached, "Cached", "cached_kib")                                                                  \
  FIELD(swap_cached, "SwapCached", "swap_cached_kib")                                                    \
  FIELD(active, "Active", "active_kib")                                                                  \
  FIELD(inactive, "Inactive", "inactive_kib")                                                            \
  FIELD(active_anon, "Active(anon)", "active_anon_kib")                                                  \
  FIELD(inactive_anon, "Inactive(anon)", "inactive_anon_kib")                                            \
  FIELD(active_file, "Active(file)", "active_file_kib")                                                  \
  FIELD(inactive_file, "Inactive(file)", "inactive_file_kib")                                            \
  FIELD(unevictable, "Unevictable", "unevictable_kib")                                                   \
  FIELD(mlocked, "Mlocked", "mlocked_kib")                                                               \
  FIELD(swap_total, "SwapTotal", "swap_total_kib")                                                       \
  FIELD(swap_free, "SwapFree", "swap_free_kib")                                                          \
  FIELD(zswap, "Zswap", "zswap_kib")                                                                     \
  FIELD(zswapped, "Zswapped", "zswapped_kib")                                                            \
  FIELD(dirty, "Dirty", "dirty_kib")                                                                     \
  FIELD(writeback, "Writeback", "writeback_kib")                                                         \
  FIELD(anon_pages, "AnonPages", "anon_pages_kib")                                                       \
  FIELD(mapped, "Mapped", "mapped_kib")                                                                  \
  FIELD(shmem, "Shmem", "shmem_kib")                                                                     \
  FIELD(kernel_reclaimable, "KReclaimable", "kernel_reclaimable_kib")                                    \
  FIELD(slab, "Slab", "slab_kib")                                                                        \
  FIELD(slab_reclaimable, "SReclaimable", "slab_reclaimable_kib")                                        \
  FIELD(slab_unreclaimable, "SUnreclaim", "slab_unreclaimable_kib")                                      \
  FIELD(kernel_stack, "KernelStack", "kernel_stack_kib")                                                 \
  FIELD(shadow_call_stack, "ShadowCallStack", "shadow_call_stack_kib")                                   \
  FIELD(page_tables, "PageTables", "page_tables_kib")                                                    \
  FIELD(sec_page_tables, "SecPageTables", "sec_page_tables_kib")                                         \
  FIELD(nfs_unstable, "NFS_Unstable", "nfs_unstable_kib")                                                \
  FIELD(bounce, "Bounce", "bounce_kib")                                                                  \
  FIELD(writeback_tmp, "WritebackTmp", "writeback_tmp_kib")                                              \
  FIELD(commit_limit, "CommitLimit", "commit_limit_kib")                                                 \
  FIELD(committed_as, "Committed_AS", "committed_as_kib")                                                \
  FIELD(vmalloc_total, "VmallocTotal", "vmalloc_total_kib")                                              \
  FIELD(vmalloc_used, "VmallocUsed", "vmalloc_used_kib")                                                 \
  FIELD(vmalloc_chunk, "VmallocChunk", "vmalloc_chunk_kib")                                              \
  FIELD(percpu, "Percpu", "percpu_kib")                                                                  \
  FIELD(hardware_corrupted, "HardwareCorrupted", "hardware_corrupted_kib")                               \
  FIELD(anon_huge_pages, "AnonHugePages", "anon_huge_pages_kib")                                         \
  FIELD(shmem_huge_pages, "ShmemHugePages", "shmem_huge_pages_kib")                                      \
  FIELD(shmem_pmd_mapped, "ShmemPmdMapped", "shmem_pmd_mapped_kib")                                      \
  FIELD(file_huge_pages, "FileHugePages", "file_huge_pages_kib")                                         \
  FIELD(file_pmd_mapped, "FilePmdMapped", "file_pmd_mapped_kib")                                         \
  FIELD(cma_total, "CmaTotal", "cma_total_kib")                                                          \
  FIELD(cma_free, "CmaFree", "cma_free_kib")                                                             \
  FIELD(unaccepted, "Unaccepted", "unaccepted_kib")                                                      \
  FIELD(balloon, "Balloon", "balloon_kib")                                                               \
  FIELD(huge_pages_total, "HugePages_Total", "huge_pages_total_kib")                                     \
  FIELD(huge_pages_free, "HugePages_Free", "huge_pages_free_kib")                                        \
  FIELD(huge_pages_rsvd, "HugePages_Rsvd", "huge_pages_rsvd_kib")                                        \
  FIELD(huge_pages_surp, "HugePages_Surp", "huge_pages_surp_kib")                                        \
  FIELD(hugepage_size, "Hugepagesize", "hugepage_size_kib")                                              \
  FIELD(hugetlb, "Hugetlb", "hugetlb_kib")                                                               \
  FIELD(direct_map_4k, "DirectMap4k", "direct_map_4k_kib")                                               \
  FIELD(direct_map_2m, "DirectMap2M", "direct_map_2m_kib")                                               \
  FIELD(direct_map_4m, "DirectMap4M", "direct_map_4m_kib")                                               \
  FIELD(direct_map_1g, "DirectMap1G", "direct_map_1g_kib")                                               \
  /* /proc/vmstat */                                                                                     \
  FIELD(pgfault, "pgfault", "pgfault")                                                                   \
  FIELD(pgmajfault, "pgmajfault", "pgmajfault")                                                          \
  FIELD(pswpin, "pswpin", "pswpin")                                                                      \
  FIELD(pswpout, "pswpout", "pswpout")                                                                   \
  FIELD(swpin_zero, "swpin_zero", "swpin_zero")                                                          \
  FIELD(swpout_zero, "swpout_zero", "swpout_zero")                                                       \
  FIELD(oom_kill, "oom_kill", "oom_kill")                                                                \
  FIELD(allocstall_dma, "allocstall_dma", "allocstall_dma")                                              \
  FIELD(allocstall_dma32, "allocstall_dma32", "allocstall_dma32")                                        \
  FIELD(allocstall_normal, "allocstall_normal", "allocstall_normal")                                     \
  FIELD(allocstall_movable, "allocstall_movable", "allocstall_movable")                                  \
  FIELD(allocstall_device, "allocstall_device", "allocstall_device")                                     \
  FIELD(pgscan_kswapd, "pgscan_kswapd", "pgscan_kswapd")                                                 \
  FIELD(pgscan_direct, "pgscan_direct", "pgscan_direct")                                                 \
  FIELD(pgscan_khugepaged, "pgscan_khugepaged", "pgscan_khugepaged")                                     \
  FIELD(pgscan_proactive, "pgscan_proactive", "pgscan_proactive")                                        \
  FIELD(pgscan_direct_throttle, "pgscan_direct_throttle", "pgscan_direct_throttle")                      \
  FIELD(pgscan_anon, "pgscan_anon", "pgscan_anon")                                                       \
  FIELD(pgscan_file, "pgscan_file", "pgscan_file")                                                       \
  FIELD(pgsteal_kswapd, "pgsteal_kswapd", "pgsteal_kswapd")                                              \
  FIELD(pgsteal_direct, "pgsteal_direct", "pgsteal_direct")                                              \
  FIELD(pgsteal_khugepaged, "pgsteal_khugepaged", "pgsteal_khugepaged")                                  \
  FIELD(pgsteal_proactive, "pgsteal_proactive", "pgsteal_proactive")                                     \
  FIELD(pgsteal_anon, "pgsteal_anon", "pgsteal_anon")                                                    \
  FIELD(pgsteal_file, "pgsteal_file", "pgsteal_file")                                                    \
  FIELD(workingset_nodes, "workingset_nodes", "workingset_nodes")                                        \
  FIELD(workingset_refault_anon, "workingset_refault_anon", "workingset_refault_anon")                   \
  FIELD(workingset_refault_file, "workingset_refault_file", "workingset_refault_file")                   \
  FIELD(workingset_activate_anon, "workingset_activate_anon", "workingset_activate_anon")                \
  FIELD(workingset_activate_file, "workingset_activate_file", "workingset_activate_file")                \
  FIELD(workingset_restore_anon, "workingset_restore_anon", "workingset_restore_anon")                   \
  FIELD(workingset_restore_file, "workingset_restore_file", "workingset_restore_file")                   \
  FIELD(workingset_nodereclaim, "workingset_nodereclaim", "workingset_nodereclaim")                      \
  FIELD(kswapd_low_wmark_hit_quickly, "kswapd_low_wmark_hit_quickly", "kswapd_low_wmark_hit_quickly")    \
  FIELD(kswapd_high_wmark_hit_quickly, "kswapd_high_wmark_hit_quickly", "kswapd_high_wmark_hit_quickly") \
  FIELD(pageoutrun, "pageoutrun", "pageoutrun")                                                          \
  FIELD(drop_pagecache, "drop_pagecache", "drop_pagecache")                                              \
  FIELD(drop_slab, "drop_slab", "drop_slab")                                                             \
  FIELD(compact_migrate_scanned, "compact_migrate_scanned", "compact_migrate_scanned")                   \
  FIELD(compact_free_scanned, "compact_free_scanned", "compact_free_scanned")                            \
  FIELD(compact_isolated, "compact_isolated", "compact_isolated")                                        \
  FIELD(compact_stall, "compact_stall", "compact_stall")                                                 \
  FIELD(compact_fail, "compact_fail", "compact_fail")                                                    \
  FIELD(compact_success, "compact_success", "compact_success")                                           \
  FIELD(compact_daemon_wake, "compact_daemon_wake", "compact_daemon_wake")                               \
  FIELD(thp_fault_alloc, "thp_fault_alloc", "thp_fault_alloc")                                           \
  FIELD(thp_fault_fallback, "thp_fault_fallback", "thp_fault_fallback")                                  \
  FIELD(thp_collapse_alloc, "thp_collapse_alloc", "thp_collapse_alloc")                                  \
  FIELD(thp_collapse_alloc_failed, "thp_collapse_alloc_failed", "thp_collapse_alloc_failed")             \
  FIELD(thp_split_page, "thp_split_page", "thp_split_page")                                              \
  FIELD(thp_split_page_failed, "thp_split_page_failed", "thp_split_page_failed")                         \
  FIELD(thp_split_pmd, "thp_split_pmd", "thp_split_pmd")                                                 \
  FIELD(thp_swpout, "thp_swpout", "thp_swpout")                                                          \
  FIELD(thp_swpout_fallback, "thp_swpout_fallback", "thp_swpout_fallback")                               \
  FIELD(zswpin, "zswpin", "zswpin")                                                                      \
  FIELD(zswpout, "zswpout", "zswpout")                                                                   \
  FIELD(zswpwb, "zswpwb", "zswpwb")                                                                      \
  FIELD(nr_vmscan_write, "nr_vmscan_write", "nr_vmscan_write")                                           \
  FIELD(nr_vmscan_immediate_reclaim, "nr_vmscan_immediate_reclaim", "nr_vmscan_immediate_reclaim")       \
  /* /proc/pressure/memory */                                                                            \
  FIELD(psi_some_avg10, "some avg10", "psi_some_avg10_bp")                                               \
  FIELD(psi_some_avg60, "some avg60", "psi_some_avg60_bp")                                               \
  FIELD(psi_some_avg300, "some avg300", "psi_some_avg300_bp")                                            \
  FIELD(psi_some_total, "some total", "psi_some_total_us")                                               \
  FIELD(psi_full_avg10, "full avg10", "psi_full_avg10_bp")                                               \
  FIELD(psi_full_avg60, "full avg60", "psi_full_avg60_bp")                                               \
  FIELD(psi_full_avg300, "full avg300", "psi_full_avg300_bp")                                            \
  FIELD(psi_full_total, "full total", "psi_full_total_us")                                               \
  /* parts of shmem */                                                                                   \
  FIELD(sysv, "sysvipc/shm", "sysv_kib")                                                                 \
  FIELD(tmpfs, "tmpfs", "tmpfs_kib")

enum class MachineField : std::uint8_t {
  MEMOIR_MACHINE_FIELDS(MEMOIR_ENUMERATOR)  //
  count_,
};

using MachineMemory = FieldSet<MachineField>;

inline constexpr std::size_t kFirstVmstat = static_cast<std::size_t>(MachineField::pgfault);
inline constexpr std::size_t kFirstPressure = static_cast<std::size_t>(MachineField::psi_some_avg10);
inline constexpr std::size_t kFirstShared = static_cast<std::size_t>(MachineField::sysv);

inline constexpr std::array<FieldName, MachineMemory::kCount> kMachineFields{
    {MEMOIR_MACHINE_FIELDS(MEMOIR_FIELD_NAME)}};

// Sizes of memory: all of /proc/meminfo, and parts of shmem. Rollups hold these whole.
constexpr auto machine_sizes() {
  std::array<MachineField, kFirstVmstat + MachineMemory::kCount - kFirstShared> sizes{};
  for (std::size_t i = 0; i < sizes.size(); ++i)
    sizes[i] = static_cast<MachineField>(i < kFirstVmstat ? i : i - kFirstVmstat + kFirstShared);
  return sizes;
}
inline constexpr auto kMachineSizes = machine_sizes();

// MemTotal − MemAvailable: what cannot be had without swapping. nullopt without either.
std::optional<std::int64_t> used_kib(const MachineMemory& memory);

// SwapTotal − SwapFree.
std::optional<std::int64_t> swap_used_kib(const MachineMemory& memory);

// A key of meminfo that kMachineFields does not know: from a newer kernel, or a vendor's.
struct OtherMeminfo {
  std::string key;
  std::int64_t value = 0;  // KiB where the kernel gave a unit, as printed otherwise

  bool operator==(const OtherMeminfo&) const = default;
};

struct MachineSample {
  MachineMemory memory;
  std::vector<OtherMeminfo> other;

  bool operator==(const MachineSample&) const = default;
};

// What a boot and a host are, gathered once.
struct BootInfo {
  std::string boot_id;       // /proc/sys/kernel/random/boot_id
  std::int64_t boot_ms = 0;  // wall time of the boot: the wall clock less the boot clock
  std::string host;          // uname nodename
  std::string kernel;        // uname release

  bool operator==(const BootInfo&) const = default;
};

}  // namespace memoir
