#pragma once

// What a process maps, summed by kind and label: its ledger of mappings. Sizes are KiB.

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/process.h"

namespace memoir {

enum class MappingKind : std::uint8_t {
  file,
  anonymous,  // without a path, or named by the program
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

// What mappings are summed by. The label is the path as the kernel gives it, any bytes, " (deleted)" with it; empty
// where there is none.
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

// For tables of names that are asked with a view.
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
  std::int64_t shared_regions = 0;   // whose permission ends in 's',
  std::int64_t shared_swap_kib = 0;  // and their Swap: SwapPss of smaps_rollup leaves it out
  ProcessMemory memory;              // the rollup fields

  void add(const MappingUse& other);
  std::int64_t pss_kib() const { return memory.or_zero(ProcessField::pss); }

  bool operator==(const MappingUse&) const = default;
};

struct MappingRow {
  MappingName name;
  MappingUse use;

  bool operator==(const MappingRow&) const = default;
};

// The largest PSS first, then by kind and label.
bool ranks_before(const MappingRow& a, const MappingRow& b);

struct MappingLedger {
  std::vector<MappingRow> rows;  // sorted as above
  // What is beyond the largest rows: a sum for each kind, without a label.
  std::array<MappingUse, kMappingKinds> others;

  bool operator==(const MappingLedger&) const = default;
};

struct ProcessLedger {
  ProcessKey process;
  MappingLedger ledger;
};

}  // namespace memoir
