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

enum class MachineField : std::uint8_t {
  // /proc/meminfo (Documentation/filesystems/proc.rst), KiB. Hugepage counts are multiplied by Hugepagesize.
  mem_total,
  mem_free,
  mem_available,
  buffers,
  cached,
  swap_cached,
  active,
  inactive,
  active_anon,
  inactive_anon,
  active_file,
  inactive_file,
  unevictable,
  mlocked,
  swap_total,
  swap_free,
  zswap,
  zswapped,
  dirty,
  writeback,
  anon_pages,
  mapped,
  shmem,
  kernel_reclaimable,
  slab,
  slab_reclaimable,
  slab_unreclaimable,
  kernel_stack,
  shadow_call_stack,
  page_tables,
  sec_page_tables,
  nfs_unstable,
  bounce,
  writeback_tmp,
  commit_limit,
  committed_as,
  vmalloc_total,
  vmalloc_used,
  vmalloc_chunk,
  percpu,
  hardware_corrupted,
  anon_huge_pages,
  shmem_huge_pages,
  shmem_pmd_mapped,
  file_huge_pages,
  file_pmd_mapped,
  cma_total,
  cma_free,
  unaccepted,
  balloon,
  huge_pages_total,
  huge_pages_free,
  huge_pages_rsvd,
  huge_pages_surp,
  hugepage_size,
  hugetlb,
  direct_map_4k,
  direct_map_2m,
  direct_map_4m,
  direct_map_1g,
  // /proc/vmstat: counters since boot, as printed (events; pages for pg*, pswp*). Its nr_* gauges are left out: meminfo
  // has
  // the same values in KiB.
  pgfault,
  pgmajfault,
  pswpin,
  pswpout,
  swpin_zero,
  swpout_zero,
  oom_kill,
  allocstall_dma,
  allocstall_dma32,
  allocstall_normal,
  allocstall_movable,
  allocstall_device,
  pgscan_kswapd,
  pgscan_direct,
  pgscan_khugepaged,
  pgscan_proactive,
  pgscan_direct_throttle,
  pgscan_anon,
  pgscan_file,
  pgsteal_kswapd,
  pgsteal_direct,
  pgsteal_khugepaged,
  pgsteal_proactive,
  pgsteal_anon,
  pgsteal_file,
  workingset_nodes,
  workingset_refault_anon,
  workingset_refault_file,
  workingset_activate_anon,
  workingset_activate_file,
  workingset_restore_anon,
  workingset_restore_file,
  workingset_nodereclaim,
  kswapd_low_wmark_hit_quickly,
  kswapd_high_wmark_hit_quickly,
  pageoutrun,
  drop_pagecache,
  drop_slab,
  compact_migrate_scanned,
  compact_free_scanned,
  compact_isolated,
  compact_stall,
  compact_fail,
  compact_success,
  compact_daemon_wake,
  thp_fault_alloc,
  thp_fault_fallback,
  thp_collapse_alloc,
  thp_collapse_alloc_failed,
  thp_split_page,
  thp_split_page_failed,
  thp_split_pmd,
  thp_swpout,
  thp_swpout_fallback,
  zswpin,
  zswpout,
  zswpwb,
  nr_vmscan_write,
  nr_vmscan_immediate_reclaim,
  // /proc/pressure/memory (Documentation/accounting/psi.rst): averages in basis points (1/100 of a percent), total in
  // µs.
  psi_some_avg10,
  psi_some_avg60,
  psi_some_avg300,
  psi_some_total,
  psi_full_avg10,
  psi_full_avg60,
  psi_full_avg300,
  psi_full_total,
  // Parts of shmem, KiB; with what was swapped out of them.
  sysv,   // /proc/sysvipc/shm: all segments of the recorder's IPC namespace
  tmpfs,  // statfs(2) of the tmpfs that the recorder's mount namespace shows
  count_,
};

using MachineMemory = FieldSet<MachineField>;

inline constexpr std::size_t kFirstVmstat = static_cast<std::size_t>(MachineField::pgfault);
inline constexpr std::size_t kFirstPressure = static_cast<std::size_t>(MachineField::psi_some_avg10);
inline constexpr std::size_t kFirstShared = static_cast<std::size_t>(MachineField::sysv);

inline constexpr std::array<FieldName, MachineMemory::kCount> kMachineFields{{
    {"MemTotal", "mem_total_kib"},
    {"MemFree", "mem_free_kib"},
    {"MemAvailable", "mem_available_kib"},
    {"Buffers", "buffers_kib"},
    {"Cached", "cached_kib"},
    {"SwapCached", "swap_cached_kib"},
    {"Active", "active_kib"},
    {"Inactive", "inactive_kib"},
    {"Active(anon)", "active_anon_kib"},
    {"Inactive(anon)", "inactive_anon_kib"},
    {"Active(file)", "active_file_kib"},
    {"Inactive(file)", "inactive_file_kib"},
    {"Unevictable", "unevictable_kib"},
    {"Mlocked", "mlocked_kib"},
    {"SwapTotal", "swap_total_kib"},
    {"SwapFree", "swap_free_kib"},
    {"Zswap", "zswap_kib"},
    {"Zswapped", "zswapped_kib"},
    {"Dirty", "dirty_kib"},
    {"Writeback", "writeback_kib"},
    {"AnonPages", "anon_pages_kib"},
    {"Mapped", "mapped_kib"},
    {"Shmem", "shmem_kib"},
    {"KReclaimable", "kernel_reclaimable_kib"},
    {"Slab", "slab_kib"},
    {"SReclaimable", "slab_reclaimable_kib"},
    {"SUnreclaim", "slab_unreclaimable_kib"},
    {"KernelStack", "kernel_stack_kib"},
    {"ShadowCallStack", "shadow_call_stack_kib"},
    {"PageTables", "page_tables_kib"},
    {"SecPageTables", "sec_page_tables_kib"},
    {"NFS_Unstable", "nfs_unstable_kib"},
    {"Bounce", "bounce_kib"},
    {"WritebackTmp", "writeback_tmp_kib"},
    {"CommitLimit", "commit_limit_kib"},
    {"Committed_AS", "committed_as_kib"},
    {"VmallocTotal", "vmalloc_total_kib"},
    {"VmallocUsed", "vmalloc_used_kib"},
    {"VmallocChunk", "vmalloc_chunk_kib"},
    {"Percpu", "percpu_kib"},
    {"HardwareCorrupted", "hardware_corrupted_kib"},
    {"AnonHugePages", "anon_huge_pages_kib"},
    {"ShmemHugePages", "shmem_huge_pages_kib"},
    {"ShmemPmdMapped", "shmem_pmd_mapped_kib"},
    {"FileHugePages", "file_huge_pages_kib"},
    {"FilePmdMapped", "file_pmd_mapped_kib"},
    {"CmaTotal", "cma_total_kib"},
    {"CmaFree", "cma_free_kib"},
    {"Unaccepted", "unaccepted_kib"},
    {"Balloon", "balloon_kib"},
    {"HugePages_Total", "huge_pages_total_kib"},
    {"HugePages_Free", "huge_pages_free_kib"},
    {"HugePages_Rsvd", "huge_pages_rsvd_kib"},
    {"HugePages_Surp", "huge_pages_surp_kib"},
    {"Hugepagesize", "hugepage_size_kib"},
    {"Hugetlb", "hugetlb_kib"},
    {"DirectMap4k", "direct_map_4k_kib"},
    {"DirectMap2M", "direct_map_2m_kib"},
    {"DirectMap4M", "direct_map_4m_kib"},
    {"DirectMap1G", "direct_map_1g_kib"},
    {"pgfault", "pgfault"},
    {"pgmajfault", "pgmajfault"},
    {"pswpin", "pswpin"},
    {"pswpout", "pswpout"},
    {"swpin_zero", "swpin_zero"},
    {"swpout_zero", "swpout_zero"},
    {"oom_kill", "oom_kill"},
    {"allocstall_dma", "allocstall_dma"},
    {"allocstall_dma32", "allocstall_dma32"},
    {"allocstall_normal", "allocstall_normal"},
    {"allocstall_movable", "allocstall_movable"},
    {"allocstall_device", "allocstall_device"},
    {"pgscan_kswapd", "pgscan_kswapd"},
    {"pgscan_direct", "pgscan_direct"},
    {"pgscan_khugepaged", "pgscan_khugepaged"},
    {"pgscan_proactive", "pgscan_proactive"},
    {"pgscan_direct_throttle", "pgscan_direct_throttle"},
    {"pgscan_anon", "pgscan_anon"},
    {"pgscan_file", "pgscan_file"},
    {"pgsteal_kswapd", "pgsteal_kswapd"},
    {"pgsteal_direct", "pgsteal_direct"},
    {"pgsteal_khugepaged", "pgsteal_khugepaged"},
    {"pgsteal_proactive", "pgsteal_proactive"},
    {"pgsteal_anon", "pgsteal_anon"},
    {"pgsteal_file", "pgsteal_file"},
    {"workingset_nodes", "workingset_nodes"},
    {"workingset_refault_anon", "workingset_refault_anon"},
    {"workingset_refault_file", "workingset_refault_file"},
    {"workingset_activate_anon", "workingset_activate_anon"},
    {"workingset_activate_file", "workingset_activate_file"},
    {"workingset_restore_anon", "workingset_restore_anon"},
    {"workingset_restore_file", "workingset_restore_file"},
    {"workingset_nodereclaim", "workingset_nodereclaim"},
    {"kswapd_low_wmark_hit_quickly", "kswapd_low_wmark_hit_quickly"},
    {"kswapd_high_wmark_hit_quickly", "kswapd_high_wmark_hit_quickly"},
    {"pageoutrun", "pageoutrun"},
    {"drop_pagecache", "drop_pagecache"},
    {"drop_slab", "drop_slab"},
    {"compact_migrate_scanned", "compact_migrate_scanned"},
    {"compact_free_scanned", "compact_free_scanned"},
    {"compact_isolated", "compact_isolated"},
    {"compact_stall", "compact_stall"},
    {"compact_fail", "compact_fail"},
    {"compact_success", "compact_success"},
    {"compact_daemon_wake", "compact_daemon_wake"},
    {"thp_fault_alloc", "thp_fault_alloc"},
    {"thp_fault_fallback", "thp_fault_fallback"},
    {"thp_collapse_alloc", "thp_collapse_alloc"},
    {"thp_collapse_alloc_failed", "thp_collapse_alloc_failed"},
    {"thp_split_page", "thp_split_page"},
    {"thp_split_page_failed", "thp_split_page_failed"},
    {"thp_split_pmd", "thp_split_pmd"},
    {"thp_swpout", "thp_swpout"},
    {"thp_swpout_fallback", "thp_swpout_fallback"},
    {"zswpin", "zswpin"},
    {"zswpout", "zswpout"},
    {"zswpwb", "zswpwb"},
    {"nr_vmscan_write", "nr_vmscan_write"},
    {"nr_vmscan_immediate_reclaim", "nr_vmscan_immediate_reclaim"},
    {"some avg10", "psi_some_avg10_bp"},
    {"some avg60", "psi_some_avg60_bp"},
    {"some avg300", "psi_some_avg300_bp"},
    {"some total", "psi_some_total_us"},
    {"full avg10", "psi_full_avg10_bp"},
    {"full avg60", "psi_full_avg60_bp"},
    {"full avg300", "psi_full_avg300_bp"},
    {"full total", "psi_full_total_us"},
    {"sysvipc/shm", "sysv_kib"},
    {"tmpfs", "tmpfs_kib"},
}};

// Sizes of memory: all of /proc/meminfo, and parts of shmem. Rollups hold these whole.
constexpr auto machine_sizes() {
  std::array<MachineField, kFirstVmstat + MachineMemory::kCount - kFirstShared> sizes{};
  for (std::size_t i = 0; i < sizes.size(); ++i)
    sizes[i] = static_cast<MachineField>(i < kFirstVmstat ? i : i - kFirstVmstat + kFirstShared);
  return sizes;
}
inline constexpr auto kMachineSizes = machine_sizes();

// MemTotal − MemAvailable: what cannot be had without swapping. Absent before Linux 3.14, which lacks MemAvailable.
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
