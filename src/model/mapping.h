#pragma once

// What a process maps, summed by kind and label: its ledger of mappings. Sizes are KiB.

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
std::optional<MappingKind> parse_mapping_kind(std::string_view word);

// The kernel marks what has no name any more: a deleted file, a memfd, a removed segment.
inline constexpr std::string_view kDeletedMark = " (deleted)";

// What mappings are summed by. The label is the path as the kernel gives it, the mark of the deleted with it; empty
// where there is none. In a ledger it is valid UTF-8, and may hold anything else.
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

// The rollup fields.
void add_rollup(const ProcessMemory& memory, ProcessMemory& sum);

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

// Of something without a name in any folder: what it was in the first ledgers that showed it.
struct FirstMapping {
  MappingName name;
  std::int64_t at_ms = 0;
  MappingUse use{};
  std::int64_t mappers = 0;
  // None of those who mapped it had a ledger before: nothing tells whether it was there already.
  bool maybe_older = true;

  bool operator==(const FirstMapping&) const = default;
};

// What became of a process's turn. What was read before holds on, unless it is dropped. The numbers are the store's.
enum class LedgerState : std::uint8_t {
  exact = 0,
  deferred = 1,  // there was no time for it
  inaccessible = 2,
  dropped = 3,  // it is not read any more, and what was read is too old to be kept
};

std::string_view to_string(LedgerState state);

// In a tick: what is new of a process's ledger; `ledger` and what follows `state` only if it is exact. As it holds at a
// tick: what was read last.
struct ProcessLedger {
  ProcessKey process{};
  MappingLedger ledger{};
  LedgerState state = LedgerState::exact;
  std::optional<std::int64_t> read_ms{};  // wall time of the reading that `ledger` is of; absent: never
  std::int64_t regions = 0;               // as read; what it cost:
  std::int64_t cpu_us = 0;
  std::int64_t wall_us = 0;

  bool operator==(const ProcessLedger&) const = default;
};

}  // namespace memoir
