#pragma once

// A process: one run of one program image. Pids are recycled, and pid and start time survive an exec, so the key is
// (boot, pid, start ticks, exec count). Sizes are KiB.

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "model/field_set.h"

namespace memoir {

struct ProcessKey {
  std::int32_t pid = 0;
  std::uint64_t start_ticks = 0;  // field 22 of /proc/PID/stat: clock ticks since boot
  std::uint32_t exec_count = 0;   // execs observed since the first observation of (pid, start_ticks)

  auto operator<=>(const ProcessKey&) const = default;  // NOLINT(modernize-use-nullptr): clang-tidy 14 misreads it
};

// Memory of one process at one tick: name, key as the kernel prints it, column, kernel file, table of the store. All
// are KiB.
//
// /proc/PID/smaps_rollup (Documentation/filesystems/proc.rst). With the sources held and estimated, the values are
// carried on from the last reading. With source approximate, only rss, pss, pss_anon, pss_file, pss_shmem and swap are
// present: VmRSS, VmRSS, RssAnon, RssFile, RssShmem and VmSwap replace them, and PSS is reduced if the machine cannot
// hold as much. USS is private_clean + private_dirty. Since Linux 6.0: pss_dirty; 5.3: pss_anon, pss_file, pss_shmem;
// 6.6: ksm; 4.12: lazy_free; 5.4: file_pmd_mapped.
//
// /proc/PID/status: always readable. Zombies and kernel threads have no Vm fields. vm_hwm is as printed; use
// high_water_kib() for the high-water mark. rss_anon, rss_file, rss_shmem: since 4.5; vm_rss is their sum.
//
// /proc/PID/smaps of all processes together: this process's share of the swap of shared mappings, which swap_pss omits
// (model/shared_swap.h). nullopt if it is unknown; 0 on a machine that does not swap.
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

// Kernel files, in the order of their fields in the list.
enum class ProcessFile : std::uint8_t { smaps_rollup, status, smaps };

// process_sample has the fields that change in most ticks, process_state the others. process_rare has fields that are 0
// in most processes; it has no row if all of them are 0.
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

// Origin of a sample's memory values. The numbers are stored.
enum class Source : std::uint8_t {
  exact = 0,         // smaps_rollup was read in this tick
  held = 1,          // read earlier; since then only private memory has changed, by a known size
  estimated = 2,     // a change since the last reading could affect PSS, or the read could not be repeated
  approximate = 3,   // RSS of status replaces PSS: not permitted, or not answered in time
  inaccessible = 4,  // no memory is known: a zombie, or unreadable status
};

std::string_view to_string(Source source);

// Returns whether the values of smaps_rollup are known: read in this tick, or still valid.
constexpr bool is_known(Source source) {
  return source == Source::exact || source == Source::held;
}

// No process can have this uid: to setreuid(2), -1 means "unchanged".
inline constexpr std::uint32_t kUnknownUid = std::numeric_limits<std::uint32_t>::max();

// Settings that a process may change while it runs. They are read at the start of each image, and later with its
// cgroup.
struct ProcessSettings {
  std::string cwd;  // empty if denied
  std::optional<std::int64_t> oom_score_adj;
  std::string limits;         // soft and hard, by the names of prlimit(1): "AS=unlimited:unlimited NOFILE=1024:4096"
  std::string category_rule;  // the rule that chose the category; empty if none matched, or unknown

  bool operator==(const ProcessSettings&) const = default;
};

// Facts about a process that seldom change, gathered at its start or exec. Comments name the facts that are read again.
struct ProcessInfo {
  ProcessKey key;
  std::int64_t start_ms = 0;    // wall time of the start: boot time + start_ticks / CLK_TCK
  std::int32_t parent_pid = 0;  // parent at the first observation
  std::uint32_t uid = 0;        // real uid; kUnknownUid if status does not show it
  std::string user;             // user name, or the number without one
  std::string comm;             // the kernel's text, made valid UTF-8; otherwise arbitrary
  std::string exe;              // link of /proc/PID/exe without " (deleted)"; empty if denied
  std::string command;          // redacted arguments joined by a space; "[comm]" without arguments
  std::string cgroup;           // v2 path, otherwise the v1 memory path; read again at keyframes
  std::string cwd;              // working directory at the start; empty if denied
  std::string category;         // category by the rules in force at start or exec
  ProcessSettings settings = {};

  bool operator==(const ProcessInfo&) const = default;
};

// Returns the heap memory of the texts in `info`, in bytes.
std::size_t heap_bytes(const ProcessInfo& info);

// One process at one tick.
struct ProcessSample {
  ProcessKey key;
  char state = '?';             // R S D Z T t X I, as in status
  std::int32_t parent_pid = 0;  // changes when the parent exits
  std::int32_t threads = 0;
  Source source = Source::inaccessible;
  // Boot clock of the tick that read the smaps_rollup in `memory`; nullopt without one.
  std::optional<std::int64_t> read_boot_ms;
  ProcessMemory memory;

  bool operator==(const ProcessSample&) const = default;
};

// Returns the source that a sample has at the tick with this boot clock: exact only if it was read in that tick. The
// sample may be of an earlier tick.
constexpr Source source_at(const ProcessSample& sample, std::int64_t boot_ms) {
  if (!is_known(sample.source)) return sample.source;
  return sample.read_boot_ms == boot_ms ? Source::exact : Source::held;
}

// Returns true for a zombie. A process is still running while its main thread waits as a zombie for other threads.
inline bool has_exited(const ProcessSample& sample) {
  return (sample.state == 'Z' || sample.state == 'X') && sample.threads <= 1;
}

// Returns the largest error of PSS that is ignored: with a smaller error, a process is not read again, and its source
// stays held. It is 1/200 of PSS; for a small PSS 1/32, but at least 32 and at most 64 KiB.
std::int64_t slight_kib(std::int64_t pss_kib);

// Bounds of PSS, valid regardless of what other processes do. The bounds of an exact PSS are equal. A held PSS may be
// wrong by slight_kib() if the process shares memory. Otherwise the lower bound is the process's minimum share of its
// anonymous memory, and the upper bound is all memory that it maps. KSM merging is ignored.
struct PssBounds {
  std::int64_t min_kib = 0;
  std::int64_t max_kib = 0;

  bool operator==(const PssBounds&) const = default;
};

// An estimated PSS_anon equals RssAnon only if no anonymous page is shared (collect/pss/estimate.h). Otherwise each
// page may be shared by all processes that were forked from the same program and still run it. `family` is the number
// of these processes, including this one; 0 if unknown.
PssBounds pss_bounds(const ProcessSample& sample, std::int64_t family = 0);

}  // namespace memoir
