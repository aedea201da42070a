#pragma once

// A process's mappings, summed by kind and label: its mapping summary. Sizes are KiB.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/process.h"

namespace memoir {

enum class MappingKind : std::uint8_t {
  file,
  anonymous,  // mapping without a path, or named by the program
  heap,
  stack,
  vdso,
  vvar,
  vsyscall,
  shared_anonymous,  // MAP_SHARED | MAP_ANONYMOUS
  sysv,              // a System V shared memory segment
  memfd,
  tmpfs,
  other,  // "[uprobes]", "anon_inode:[perf_event]"
  count_,
};

inline constexpr std::size_t kMappingKinds = static_cast<std::size_t>(MappingKind::count_);

std::string_view to_string(MappingKind kind);
std::optional<MappingKind> parse_mapping_kind(std::string_view word);

// The kernel's suffix of names that no longer exist: a deleted file, a memfd, a removed segment.
inline constexpr std::string_view kDeletedMark = " (deleted)";

// The key by which mappings are summed. The label is the kernel's path including the deleted suffix; empty without a
// path. In a summary it is valid UTF-8, but otherwise arbitrary.
template <typename Text>
struct BasicMappingName {
  MappingKind kind = MappingKind::file;
  Text label;

  template <typename Other>
  bool operator==(const BasicMappingName<Other>& other) const {
    return kind == other.kind && label == other.label;
  }
};
using MappingName = BasicMappingName<std::string>;
using MappingNameView = BasicMappingName<std::string_view>;

// Allows lookups by MappingNameView.
struct MappingNameHash {
  using is_transparent = void;  // NOLINT(readability-identifier-naming): the library gives the name

  std::size_t operator()(MappingNameView name) const {
    return std::hash<std::string_view>()(name.label) * kMappingKinds + static_cast<std::size_t>(name.kind);
  }
  std::size_t operator()(const MappingName& name) const { return (*this)(MappingNameView{name.kind, name.label}); }
};

struct MappingUse {
  std::int64_t regions = 0;
  std::int64_t size_kib = 0;         // address space
  std::int64_t shared_regions = 0;   // MAP_SHARED regions: their permissions end in 's'
  std::int64_t shared_swap_kib = 0;  // Swap of these regions, which SwapPss of smaps_rollup omits
  // Allocated size of the object that is shared memory, including swap and unmapped parts (st_blocks of map_files,
  // proc(5)). nullopt if not permitted, or without shared memory.
  std::optional<std::int64_t> object_kib{};
  ProcessMemory memory{};  // fields of smaps_rollup, summed over the regions

  // Adds another use. A field that is unknown in either is unknown in the sum.
  void add(const MappingUse& other);
  std::int64_t pss_kib() const { return memory.or_zero(ProcessField::pss); }

  bool operator==(const MappingUse&) const = default;
};

struct MappingRow {
  MappingName name;
  MappingUse use;

  bool operator==(const MappingRow&) const = default;
};

// Adds up rows with equal names. The sums are in the order in which the names first occur.
std::vector<MappingRow> merged(std::vector<MappingRow> rows);

// Orders by PSS, largest first, then by kind and label.
bool ranks_before(const MappingRow& a, const MappingRow& b);

struct MappingSummary {
  std::vector<MappingRow> rows;  // sorted by ranks_before()
  // Sums of the rows beyond the largest, one per kind, without a label.
  std::array<MappingUse, kMappingKinds> others;

  bool operator==(const MappingSummary&) const = default;
};

// First observation of an object without a name in any folder.
struct FirstMapping {
  MappingName name;
  std::int64_t at_ms = 0;
  MappingUse use{};
  std::int64_t mappers = 0;
  // True if no process that maps it had an earlier summary, so the object may already have existed.
  bool maybe_older = true;

  bool operator==(const FirstMapping&) const = default;
};

// Outcome of a process's due read. The previous reading stays valid unless it is dropped. The numbers are stored.
enum class MappingState : std::uint8_t {
  exact = 0,
  deferred = 1,  // the CPU budget did not allow the read
  inaccessible = 2,
  dropped = 3,  // it is no longer read, and the previous reading is too old
};

std::string_view to_string(MappingState state);

// In a tick: the new state of a process's summary; `summary` and the fields after `state` are valid only if it is
// exact. In the state at a given time: the last reading.
struct ProcessMappings {
  ProcessKey process{};
  MappingSummary summary{};
  MappingState state = MappingState::exact;
  std::optional<std::int64_t> read_ms{};  // wall time of the reading of `summary`; nullopt: never
  std::int64_t regions = 0;               // number of regions in that reading
  std::int64_t cpu_us = 0;
  std::int64_t wall_us = 0;

  bool operator==(const ProcessMappings&) const = default;
};

}  // namespace memoir
