#pragma once

// The machine's own memory at one tick, from /proc/meminfo, /proc/vmstat, /proc/pressure/memory, /proc/zoneinfo,
// /proc/sysvipc/shm and the tmpfs mounts.

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/field_set.h"

namespace memoir {

// The machine's fields: name, key as the kernel prints it, column, kernel file, table of the store, number of the
// metric (model/metric.h; 0: not in rollups). The unit is the suffix of the column: _kib, _bp, _us; without one it is a
// count.
//
// /proc/meminfo (Documentation/filesystems/proc.rst): KiB. Hugepage counts are multiplied by Hugepagesize.
//
// /proc/vmstat: counters since boot, as printed (events; pages for pg*, pswp*). Its nr_* gauges are left out: meminfo
// has the same values in KiB.
//
// /proc/pressure/memory (Documentation/accounting/psi.rst): averages in basis points (1/100 of a percent), total in µs.
//
// /proc/zoneinfo: free pages on the CPUs' lists, which meminfo does not count as free.
//
// Shared memory by origin: KiB, including swap, unlike Shmem of meminfo. /proc/sysvipc/shm covers all segments of the
// recorder's IPC namespace; statfs(2) covers the tmpfs mounts that the recorder's mount namespace shows.
#define MEMOIR_MACHINE_FIELDS(FIELD)                                                                                  \
  FIELD(mem_total, "MemTotal", "mem_total_kib", meminfo, detail, 14)                                                  \
  FIELD(mem_free, "MemFree", "mem_free_kib", meminfo, sample, 15)                                                     \
  FIELD(mem_available, "MemAvailable", "mem_available_kib", meminfo, sample, 16)                                      \
  FIELD(buffers, "Buffers", "buffers_kib", meminfo, sample, 17)                                                       \
  FIELD(cached, "Cached", "cached_kib", meminfo, sample, 18)                                                          \
  FIELD(swap_cached, "SwapCached", "swap_cached_kib", meminfo, detail, 19)                                            \
  FIELD(active, "Active", "active_kib", meminfo, sample, 20)                                                          \
  FIELD(inactive, "Inactive", "inactive_kib", meminfo, sample, 21)                                                    \
  FIELD(active_anon, "Active(anon)", "active_anon_kib", meminfo, sample, 22)                                          \
  FIELD(inactive_anon, "Inactive(anon)", "inactive_anon_kib", meminfo, sample, 23)                                    \
  FIELD(active_file, "Active(file)", "active_file_kib", meminfo, sample, 24)                                          \
  FIELD(inactive_file, "Inactive(file)", "inactive_file_kib", meminfo, sample, 25)                                    \
  FIELD(unevictable, "Unevictable", "unevictable_kib", meminfo, detail, 26)                                           \
  FIELD(mlocked, "Mlocked", "mlocked_kib", meminfo, detail, 27)                                                       \
  FIELD(swap_total, "SwapTotal", "swap_total_kib", meminfo, detail, 28)                                               \
  FIELD(swap_free, "SwapFree", "swap_free_kib", meminfo, detail, 29)                                                  \
  FIELD(zswap, "Zswap", "zswap_kib", meminfo, detail, 30)                                                             \
  FIELD(zswapped, "Zswapped", "zswapped_kib", meminfo, detail, 31)                                                    \
  FIELD(dirty, "Dirty", "dirty_kib", meminfo, sample, 32)                                                             \
  FIELD(writeback, "Writeback", "writeback_kib", meminfo, sample, 33)                                                 \
  FIELD(anon_pages, "AnonPages", "anon_pages_kib", meminfo, sample, 34)                                               \
  FIELD(mapped, "Mapped", "mapped_kib", meminfo, sample, 35)                                                          \
  FIELD(shmem, "Shmem", "shmem_kib", meminfo, sample, 36)                                                             \
  FIELD(kernel_reclaimable, "KReclaimable", "kernel_reclaimable_kib", meminfo, sample, 37)                            \
  FIELD(slab, "Slab", "slab_kib", meminfo, sample, 38)                                                                \
  FIELD(slab_reclaimable, "SReclaimable", "slab_reclaimable_kib", meminfo, sample, 39)                                \
  FIELD(slab_unreclaimable, "SUnreclaim", "slab_unreclaimable_kib", meminfo, sample, 40)                              \
  FIELD(kernel_stack, "KernelStack", "kernel_stack_kib", meminfo, sample, 41)                                         \
  FIELD(shadow_call_stack, "ShadowCallStack", "shadow_call_stack_kib", meminfo, detail, 42)                           \
  FIELD(page_tables, "PageTables", "page_tables_kib", meminfo, sample, 43)                                            \
  FIELD(sec_page_tables, "SecPageTables", "sec_page_tables_kib", meminfo, detail, 44)                                 \
  FIELD(nfs_unstable, "NFS_Unstable", "nfs_unstable_kib", meminfo, detail, 45)                                        \
  FIELD(bounce, "Bounce", "bounce_kib", meminfo, detail, 46)                                                          \
  FIELD(writeback_tmp, "WritebackTmp", "writeback_tmp_kib", meminfo, detail, 47)                                      \
  FIELD(commit_limit, "CommitLimit", "commit_limit_kib", meminfo, detail, 48)                                         \
  FIELD(committed_as, "Committed_AS", "committed_as_kib", meminfo, sample, 49)                                        \
  FIELD(vmalloc_total, "VmallocTotal", "vmalloc_total_kib", meminfo, detail, 50)                                      \
  FIELD(vmalloc_used, "VmallocUsed", "vmalloc_used_kib", meminfo, sample, 51)                                         \
  FIELD(vmalloc_chunk, "VmallocChunk", "vmalloc_chunk_kib", meminfo, detail, 52)                                      \
  FIELD(percpu, "Percpu", "percpu_kib", meminfo, sample, 53)                                                          \
  FIELD(hardware_corrupted, "HardwareCorrupted", "hardware_corrupted_kib", meminfo, detail, 54)                       \
  FIELD(anon_huge_pages, "AnonHugePages", "anon_huge_pages_kib", meminfo, sample, 55)                                 \
  FIELD(shmem_huge_pages, "ShmemHugePages", "shmem_huge_pages_kib", meminfo, detail, 56)                              \
  FIELD(shmem_pmd_mapped, "ShmemPmdMapped", "shmem_pmd_mapped_kib", meminfo, detail, 57)                              \
  FIELD(file_huge_pages, "FileHugePages", "file_huge_pages_kib", meminfo, detail, 58)                                 \
  FIELD(file_pmd_mapped, "FilePmdMapped", "file_pmd_mapped_kib", meminfo, detail, 59)                                 \
  FIELD(cma_total, "CmaTotal", "cma_total_kib", meminfo, detail, 60)                                                  \
  FIELD(cma_free, "CmaFree", "cma_free_kib", meminfo, detail, 61)                                                     \
  FIELD(unaccepted, "Unaccepted", "unaccepted_kib", meminfo, detail, 62)                                              \
  FIELD(balloon, "Balloon", "balloon_kib", meminfo, detail, 63)                                                       \
  FIELD(huge_pages_total, "HugePages_Total", "huge_pages_total_kib", meminfo, detail, 64)                             \
  FIELD(huge_pages_free, "HugePages_Free", "huge_pages_free_kib", meminfo, detail, 65)                                \
  FIELD(huge_pages_rsvd, "HugePages_Rsvd", "huge_pages_rsvd_kib", meminfo, detail, 66)                                \
  FIELD(huge_pages_surp, "HugePages_Surp", "huge_pages_surp_kib", meminfo, detail, 67)                                \
  FIELD(hugepage_size, "Hugepagesize", "hugepage_size_kib", meminfo, detail, 68)                                      \
  FIELD(hugetlb, "Hugetlb", "hugetlb_kib", meminfo, detail, 69)                                                       \
  FIELD(direct_map_4k, "DirectMap4k", "direct_map_4k_kib", meminfo, detail, 70)                                       \
  FIELD(direct_map_2m, "DirectMap2M", "direct_map_2m_kib", meminfo, detail, 71)                                       \
  FIELD(direct_map_4m, "DirectMap4M", "direct_map_4m_kib", meminfo, detail, 72)                                       \
  FIELD(direct_map_1g, "DirectMap1G", "direct_map_1g_kib", meminfo, detail, 73)                                       \
  FIELD(pgfault, "pgfault", "pgfault", vmstat, sample, 0)                                                             \
  FIELD(pgmajfault, "pgmajfault", "pgmajfault", vmstat, sample, 74)                                                   \
  FIELD(pswpin, "pswpin", "pswpin", vmstat, detail, 75)                                                               \
  FIELD(pswpout, "pswpout", "pswpout", vmstat, detail, 76)                                                            \
  FIELD(swpin_zero, "swpin_zero", "swpin_zero", vmstat, detail, 0)                                                    \
  FIELD(swpout_zero, "swpout_zero", "swpout_zero", vmstat, detail, 0)                                                 \
  FIELD(oom_kill, "oom_kill", "oom_kill", vmstat, detail, 77)                                                         \
  FIELD(allocstall_dma, "allocstall_dma", "allocstall_dma", vmstat, detail, 0)                                        \
  FIELD(allocstall_dma32, "allocstall_dma32", "allocstall_dma32", vmstat, detail, 0)                                  \
  FIELD(allocstall_normal, "allocstall_normal", "allocstall_normal", vmstat, detail, 0)                               \
  FIELD(allocstall_movable, "allocstall_movable", "allocstall_movable", vmstat, detail, 0)                            \
  FIELD(allocstall_device, "allocstall_device", "allocstall_device", vmstat, detail, 0)                               \
  FIELD(pgscan_kswapd, "pgscan_kswapd", "pgscan_kswapd", vmstat, sample, 0)                                           \
  FIELD(pgscan_direct, "pgscan_direct", "pgscan_direct", vmstat, detail, 0)                                           \
  FIELD(pgscan_khugepaged, "pgscan_khugepaged", "pgscan_khugepaged", vmstat, detail, 0)                               \
  FIELD(pgscan_proactive, "pgscan_proactive", "pgscan_proactive", vmstat, detail, 0)                                  \
  FIELD(pgscan_direct_throttle, "pgscan_direct_throttle", "pgscan_direct_throttle", vmstat, detail, 0)                \
  FIELD(pgscan_anon, "pgscan_anon", "pgscan_anon", vmstat, detail, 0)                                                 \
  FIELD(pgscan_file, "pgscan_file", "pgscan_file", vmstat, sample, 0)                                                 \
  FIELD(pgsteal_kswapd, "pgsteal_kswapd", "pgsteal_kswapd", vmstat, sample, 0)                                        \
  FIELD(pgsteal_direct, "pgsteal_direct", "pgsteal_direct", vmstat, detail, 0)                                        \
  FIELD(pgsteal_khugepaged, "pgsteal_khugepaged", "pgsteal_khugepaged", vmstat, detail, 0)                            \
  FIELD(pgsteal_proactive, "pgsteal_proactive", "pgsteal_proactive", vmstat, detail, 0)                               \
  FIELD(pgsteal_anon, "pgsteal_anon", "pgsteal_anon", vmstat, detail, 0)                                              \
  FIELD(pgsteal_file, "pgsteal_file", "pgsteal_file", vmstat, sample, 0)                                              \
  FIELD(workingset_nodes, "workingset_nodes", "workingset_nodes", vmstat, sample, 0)                                  \
  FIELD(workingset_refault_anon, "workingset_refault_anon", "workingset_refault_anon", vmstat, detail, 0)             \
  FIELD(workingset_refault_file, "workingset_refault_file", "workingset_refault_file", vmstat, sample, 0)             \
  FIELD(workingset_activate_anon, "workingset_activate_anon", "workingset_activate_anon", vmstat, detail, 0)          \
  FIELD(workingset_activate_file, "workingset_activate_file", "workingset_activate_file", vmstat, sample, 0)          \
  FIELD(workingset_restore_anon, "workingset_restore_anon", "workingset_restore_anon", vmstat, detail, 0)             \
  FIELD(workingset_restore_file, "workingset_restore_file", "workingset_restore_file", vmstat, detail, 0)             \
  FIELD(workingset_nodereclaim, "workingset_nodereclaim", "workingset_nodereclaim", vmstat, detail, 0)                \
  FIELD(kswapd_low_wmark_hit_quickly, "kswapd_low_wmark_hit_quickly", "kswapd_low_wmark_hit_quickly", vmstat, detail, \
        0)                                                                                                            \
  FIELD(kswapd_high_wmark_hit_quickly, "kswapd_high_wmark_hit_quickly", "kswapd_high_wmark_hit_quickly", vmstat,      \
        detail, 0)                                                                                                    \
  FIELD(pageoutrun, "pageoutrun", "pageoutrun", vmstat, detail, 0)                                                    \
  FIELD(drop_pagecache, "drop_pagecache", "drop_pagecache", vmstat, detail, 0)                                        \
  FIELD(drop_slab, "drop_slab", "drop_slab", vmstat, detail, 0)                                                       \
  FIELD(compact_migrate_scanned, "compact_migrate_scanned", "compact_migrate_scanned", vmstat, detail, 0)             \
  FIELD(compact_free_scanned, "compact_free_scanned", "compact_free_scanned", vmstat, detail, 0)                      \
  FIELD(compact_isolated, "compact_isolated", "compact_isolated", vmstat, detail, 0)                                  \
  FIELD(compact_stall, "compact_stall", "compact_stall", vmstat, detail, 0)                                           \
  FIELD(compact_fail, "compact_fail", "compact_fail", vmstat, detail, 0)                                              \
  FIELD(compact_success, "compact_success", "compact_success", vmstat, detail, 0)                                     \
  FIELD(compact_daemon_wake, "compact_daemon_wake", "compact_daemon_wake", vmstat, detail, 0)                         \
  FIELD(thp_fault_alloc, "thp_fault_alloc", "thp_fault_alloc", vmstat, sample, 0)                                     \
  FIELD(thp_fault_fallback, "thp_fault_fallback", "thp_fault_fallback", vmstat, detail, 0)                            \
  FIELD(thp_collapse_alloc, "thp_collapse_alloc", "thp_collapse_alloc", vmstat, detail, 0)                            \
  FIELD(thp_collapse_alloc_failed, "thp_collapse_alloc_failed", "thp_collapse_alloc_failed", vmstat, detail, 0)       \
  FIELD(thp_split_page, "thp_split_page", "thp_split_page", vmstat, detail, 0)                                        \
  FIELD(thp_split_page_failed, "thp_split_page_failed", "thp_split_page_failed", vmstat, detail, 0)                   \
  FIELD(thp_split_pmd, "thp_split_pmd", "thp_split_pmd", vmstat, detail, 0)                                           \
  FIELD(thp_swpout, "thp_swpout", "thp_swpout", vmstat, detail, 0)                                                    \
  FIELD(thp_swpout_fallback, "thp_swpout_fallback", "thp_swpout_fallback", vmstat, detail, 0)                         \
  FIELD(zswpin, "zswpin", "zswpin", vmstat, detail, 0)                                                                \
  FIELD(zswpout, "zswpout", "zswpout", vmstat, detail, 0)                                                             \
  FIELD(zswpwb, "zswpwb", "zswpwb", vmstat, detail, 0)                                                                \
  FIELD(nr_vmscan_write, "nr_vmscan_write", "nr_vmscan_write", vmstat, detail, 0)                                     \
  FIELD(nr_vmscan_immediate_reclaim, "nr_vmscan_immediate_reclaim", "nr_vmscan_immediate_reclaim", vmstat, detail, 0) \
  FIELD(psi_some_avg10, "some avg10", "psi_some_avg10_bp", pressure, sample, 78)                                      \
  FIELD(psi_some_avg60, "some avg60", "psi_some_avg60_bp", pressure, sample, 0)                                       \
  FIELD(psi_some_avg300, "some avg300", "psi_some_avg300_bp", pressure, sample, 0)                                    \
  FIELD(psi_some_total, "some total", "psi_some_total_us", pressure, sample, 79)                                      \
  FIELD(psi_full_avg10, "full avg10", "psi_full_avg10_bp", pressure, sample, 80)                                      \
  FIELD(psi_full_avg60, "full avg60", "psi_full_avg60_bp", pressure, sample, 0)                                       \
  FIELD(psi_full_avg300, "full avg300", "psi_full_avg300_bp", pressure, sample, 0)                                    \
  FIELD(psi_full_total, "full total", "psi_full_total_us", pressure, sample, 81)                                      \
  FIELD(sysv, "sysvipc/shm", "sysv_kib", shmem, detail, 82)                                                           \
  FIELD(tmpfs, "tmpfs", "tmpfs_kib", shmem, detail, 83)                                                               \
  FIELD(per_cpu_free, "pagesets count", "per_cpu_free_kib", zoneinfo, sample, 84)

enum class MachineField : std::uint8_t {
  MEMOIR_MACHINE_FIELDS(MEMOIR_ENUMERATOR)  //
  count_,
};

using MachineMemory = FieldSet<MachineField>;

// Kernel files, in the order of their fields in the list.
enum class MachineFile : std::uint8_t { meminfo, vmstat, pressure, shmem, zoneinfo };

// machine_sample has the fields that change in most ticks, machine_detail the others.
enum class MachineStorage : std::uint8_t { sample, detail };

struct MachineFieldInfo : FieldName {
  MachineField field = {};
  MachineFile file = {};
  MachineStorage storage = {};
  int number = 0;
};
#define MEMOIR_MACHINE_FIELD(name, key, column, file, table, number) \
  MachineFieldInfo{{key, column}, MachineField::name, MachineFile::file, MachineStorage::table, number},
inline constexpr std::array<MachineFieldInfo, MachineMemory::kCount> kMachineFields{
    {MEMOIR_MACHINE_FIELDS(MEMOIR_MACHINE_FIELD)}};
#undef MEMOIR_MACHINE_FIELD

static_assert(is_field_list(kMachineFields, &MachineFieldInfo::file));
// Returns whether the field is an amount of memory in KiB.
constexpr bool is_machine_size(const MachineFieldInfo& info) {
  return info.file != MachineFile::vmstat && info.file != MachineFile::pressure;
}
static_assert(std::ranges::all_of(kMachineFields, [](const MachineFieldInfo& info) {
  const bool size = is_machine_size(info);
  return size == has_suffix(info.column, "_kib") && (!size || info.number > 0);
}));

inline constexpr std::size_t kFirstVmstat = first_of(kMachineFields, MachineFile::vmstat);
inline constexpr std::size_t kFirstPressure = first_of(kMachineFields, MachineFile::pressure);
inline constexpr std::size_t kFirstShared = first_of(kMachineFields, MachineFile::shmem);

// Amounts of memory: all fields except the fields of vmstat and pressure. Rollups include every amount.
inline constexpr auto kMachineSizes =
    fields_with<kMachineFields>([](const MachineFieldInfo& info) { return is_machine_size(info); });

// Memory in use, by the rules of model/field_rule.h.
std::optional<std::int64_t> used_kib(const MachineMemory& memory);
std::optional<std::int64_t> swap_used_kib(const MachineMemory& memory);

// A key of meminfo that kMachineFields does not contain: from a newer kernel, or a vendor's.
struct OtherMeminfo {
  std::string key;
  std::int64_t value = 0;  // in KiB if the kernel printed a unit; otherwise as printed

  bool operator==(const OtherMeminfo&) const = default;
};

struct MachineSample {
  MachineMemory memory;
  std::vector<OtherMeminfo> other;

  bool operator==(const MachineSample&) const = default;
};

// Facts about a boot and its host, gathered once.
struct BootInfo {
  std::string boot_id;       // /proc/sys/kernel/random/boot_id
  std::int64_t boot_ms = 0;  // wall time of the boot: the wall clock less the boot clock
  std::string host;          // uname nodename
  std::string kernel;        // uname release

  bool operator==(const BootInfo&) const = default;
};

}  // namespace memoir
