#pragma once

// What is known of a process. A process here is one life of one program image: the pid alone is recycled, pid and start
// time survive an exec, so (boot, pid, start ticks, exec count) is the identity. Sizes are KiB.

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "model/field_set.h"

namespace memoir {

struct ProcessKey {
  std::int32_t pid = 0;
  std::uint64_t start_ticks = 0;  // field 22 of /proc/PID/stat: clock ticks since boot
  std::uint32_t exec_count = 0;   // execs seen since the first sight of (pid, start_ticks)

  auto operator<=>(const ProcessKey&) const = default;  // NOLINT(modernize-use-nullptr): clang-tidy 14 misreads it
};

// Memory of one process at one tick: name, key as the kernel prints it, column, kernel file, table of the store. All
// are KiB.
//
// /proc/PID/smaps_rollup (Documentation/filesystems/proc.rst). Present only with source exact, except rss, pss,
// pss_anon, pss_file, pss_shmem and swap, for which source approximate puts VmRSS, VmRSS, RssAnon, RssFile, RssShmem,
// VmSwap; less of the PSS where the machine cannot hold as much. USS is private_clean + private_dirty. Since Linux 6.0:
// pss_dirty; 5.3: pss_anon, pss_file, pss_shmem; 6.6: ksm; 4.12: lazy_free; 5.4: file_pmd_mapped.
//
// /proc/PID/status: always readable. A zombie and a kernel thread have none of the Vm fields. vm_hwm is as printed; the
// high-water mark is that of high_water_kib(). rss_anon, rss_file, rss_shmem: since 4.5; vm_rss is their sum.
//
// /proc/PID/smaps of all processes together: this one's share of the swap of shared mappings, which swap_pss leaves out
// (model/shared_swap.h). Absent where it was not read: a machine that does not swap has none.
#define MEMOIR_PROCESS_FIELDS(FIELD)                                                    \
  FIELD(rss, "Rss", "rss_kib", smaps_rollup, sample)                                    \
  FIELD(pss, "Pss", "pss_kib", smaps_rollup, sample)                                    \
  FIELD(pss_dirty, "Pss_Dirty", "pss_dirty_kib", smaps_rollup, sample)                  \
  FIELD(pss_anon, "Pss_Anon", "pss_anon_kib", smaps_rollup, sample)                     \
  FIELD(pss_file, "Pss_File", "pss_file_kib", smaps_rollup, sample)                     \
  FIELD(pss_shmem, "Pss_Shmem", "pss_shmem_kib", smaps_rollup, sample)                  \
  FIELD(shared_clean, "Shared_Clean", "shared_clean_kib", smaps_rollup, sample)         \
  FIELD(shared_dirty, "Shared_Dirty", "shared_dirty_kib", smaps_rollup, sample)         \
  FIELD(private_clean, "Private_Clean", "private_clean_kib", smaps_rollup, sample)      \
  FIELD(private_dirty, "Private_Dirty", "private_dirty_kib", smaps_rollup, sample)      \
  FIELD(referenced, "Referenced", "referenced_kib", smaps_rollup, sample)               \
  FIELD(anonymous, "Anonymous", "anonymous_kib", smaps_rollup, sample)                  \
  FIELD(ksm, "KSM", "ksm_kib", smaps_rollup, state)                                     \
  FIELD(lazy_free, "LazyFree", "lazy_free_kib", smaps_rollup, rare)                     \
  FIELD(anon_huge_pages, "AnonHugePages", "anon_huge_pages_kib", smaps_rollup, state)   \
  FIELD(shmem_pmd_mapped, "ShmemPmdMapped", "shmem_pmd_mapped_kib", smaps_rollup, rare) \
  FIELD(file_pmd_mapped, "FilePmdMapped", "file_pmd_mapped_kib", smaps_rollup, rare)    \
  FIELD(shared_hugetlb, "Shared_Hugetlb", "shared_hugetlb_kib", smaps_rollup, rare)     \
  FIELD(private_hugetlb, "Private_Hugetlb", "private_hugetlb_kib", smaps_rollup, rare)  \
  FIELD(swap, "Swap", "swap_kib", smaps_rollup, rare)                                   \
  FIELD(swap_pss, "SwapPss", "swap_pss_kib", smaps_rollup, rare)                        \
  FIELD(locked, "Locked", "locked_kib", smaps_rollup, rare)                             \
  FIELD(vm_peak, "VmPeak", "vm_peak_kib", status, state)                                \
  FIELD(vm_size, "VmSize", "vm_size_kib", status, state)                                \
  FIELD(vm_lck, "VmLck", "vm_lck_kib", status, rare)                                    \
  FIELD(vm_pin, "VmPin", "vm_pin_kib", status, rare)                                    \
  FIELD(vm_hwm, "VmHWM", "vm_hwm_kib", status, sample)                                  \
  FIELD(vm_rss, "VmRSS", "vm_rss_kib", status, sample)                                  \
  FIELD(rss_anon, "RssAnon", "rss_anon_kib", status, sample)                            \
  FIELD(rss_file, "RssFile", "rss_file_kib", status, sample)                            \
  FIELD(rss_shmem, "RssShmem", "rss_shmem_kib", status, sample)                         \
  FIELD(vm_data, "VmData", "vm_data_kib", status, state)                                \
  FIELD(vm_stk, "VmStk", "vm_stk_kib", status, state)                                   \
  FIELD(vm_exe, "VmExe", "vm_exe_kib", status, state)                                   \
  FIELD(vm_lib, "VmLib", "vm_lib_kib", status, state)                                   \
  FIELD(vm_pte, "VmPTE", "vm_pte_kib", status, state)                                   \
  FIELD(vm_swap, "VmSwap", "vm_swap_kib", status, rare)                                 \
  FIELD(hugetlb_pages, "HugetlbPages", "hugetlb_pages_kib", status, rare)               \
  FIELD(shared_swap, "shared swap", "shared_swap_kib", smaps, state)

enum class ProcessField : std::uint8_t {
  MEMOIR_PROCESS_FIELDS(MEMOIR_ENUMERATOR)  //
  count_,
};

using ProcessMemory = FieldSet<ProcessField>;

// In the order of the list.
enum class ProcessFile : std::uint8_t { smaps_rollup, status, smaps };

// process_sample has the fields that change at most ticks, process_state the others. process_rare has fields that are 0
// in most processes; it has no row where all of them are.
enum class ProcessStorage : std::uint8_t { sample, state, rare };

struct ProcessFieldInfo : FieldName {
  ProcessField field = {};
  ProcessFile file = {};
  ProcessStorage storage = {};
};
#define MEMOIR_PROCESS_FIELD(name, key, column, file, table) \
  ProcessFieldInfo{{key, column}, ProcessField::name, ProcessFile::file, ProcessStorage::table},
inline constexpr std::array<ProcessFieldInfo, ProcessMemory::kCount> kProcessFields{
    {MEMOIR_PROCESS_FIELDS(MEMOIR_PROCESS_FIELD)}};
#undef MEMOIR_PROCESS_FIELD

static_assert(is_field_list(kProcessFields, &ProcessFieldInfo::file));
static_assert(std::ranges::all_of(kProcessFields,
                                  [](const FieldName& info) { return has_suffix(info.column, "_kib"); }));

constexpr const ProcessFieldInfo& info_of(ProcessField field) {
  return kProcessFields[static_cast<std::size_t>(field)];
}

inline constexpr std::size_t kRollupFields = first_of(kProcessFields, ProcessFile::status);
inline constexpr std::size_t kStatusFields = first_of(kProcessFields, ProcessFile::smaps) - kRollupFields;

// By the rules of model/field_rule.h.
std::optional<std::int64_t> high_water_kib(const ProcessMemory& memory);
std::optional<std::int64_t> uss_kib(const ProcessMemory& memory);
std::optional<std::int64_t> rss_kib(const ProcessMemory& memory);

// Where the memory values of a sample come from. The numbers are the store's.
enum class Source : std::uint8_t {
  exact = 0,         // smaps_rollup was read in this tick
  held = 1,          // known as well from the last reading: at most its own anonymous memory moved, which is counted
  estimated = 2,     // shared memory moved, or a relative did: its last exact share carried on
  approximate = 3,   // RSS of status stands in for PSS: not permitted, or not answered in time
  inaccessible = 4,  // no memory is known: a zombie, or status could not be read
};

std::string_view to_string(Source source);

// What its rollup tells is known: it was read, or is as if it had been.
constexpr bool is_known(Source source) {
  return source == Source::exact || source == Source::held;
}

// What holds for the whole life of a process, gathered at its birth, at an exec, and where a note says so later too.
struct ProcessInfo {
  ProcessKey key;
  std::int64_t start_ms = 0;    // wall time of the start: of the boot + start_ticks / CLK_TCK
  std::int32_t parent_pid = 0;  // at first sight
  std::uint32_t uid = 0;        // real uid
  std::string user;             // its name, or the number where it has none
  std::string comm;             // as the kernel gives it, made valid UTF-8; may hold anything else
  std::string exe;              // link of /proc/PID/exe; empty where denied
  std::string command;          // redacted arguments joined by a space; "[comm]" where the process has none
  std::string cgroup;           // v2 path, else the v1 memory path; looked up again at keyframes
  std::string cwd;              // at birth; empty where denied
  std::string category;         // by the rules in force at birth or exec

  bool operator==(const ProcessInfo&) const = default;
};

// One process at one tick.
struct ProcessSample {
  ProcessKey key;
  char state = '?';             // R S D Z T t X I, as in status
  std::int32_t parent_pid = 0;  // changes when the parent dies
  std::int32_t threads = 0;
  Source source = Source::inaccessible;
  ProcessMemory memory;

  bool operator==(const ProcessSample&) const = default;
};

// Between which PSS is for certain, whatever others map or give back: the anonymous memory that it shares with nobody,
// and all that it has mapped. Of a known PSS both are it. (Merging by KSM aside.)
struct PssBounds {
  std::int64_t least_kib = 0;
  std::int64_t most_kib = 0;

  bool operator==(const PssBounds&) const = default;
};

// An estimated PSS_anon is as large as RssAnon where none of it is shared, and only there (collect/need/estimate.h).
// Else a page may be in each process that forked from one with the same program and runs it still: `family` is how many
// run it, itself included; 0: that is not known.
PssBounds pss_bounds(const ProcessSample& sample, std::int64_t family = 0);

}  // namespace memoir
