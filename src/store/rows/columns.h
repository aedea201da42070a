#pragma once

// Which table holds which field: what moves (…_sample) apart from what seldom does (machine_detail; of processes
// process_state, and process_rare beside it). And the columns of processes that are stored only where they are not what
// the others make them.

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/machine.h"
#include "model/process.h"
#include "store/sqlite/statement.h"

namespace memoir {

inline constexpr std::array kHotProcessFields{
    ProcessField::rss,           ProcessField::pss,           ProcessField::pss_dirty,    ProcessField::pss_anon,
    ProcessField::pss_file,      ProcessField::pss_shmem,     ProcessField::shared_clean, ProcessField::shared_dirty,
    ProcessField::private_clean, ProcessField::private_dirty, ProcessField::referenced,   ProcessField::anonymous,
    ProcessField::vm_hwm,        ProcessField::vm_rss,        ProcessField::rss_anon,     ProcessField::rss_file,
    ProcessField::rss_shmem,
};

inline constexpr std::array kHotMachineFields{
    MachineField::mem_free,
    MachineField::mem_available,
    MachineField::buffers,
    MachineField::cached,
    MachineField::active,
    MachineField::inactive,
    MachineField::active_anon,
    MachineField::inactive_anon,
    MachineField::active_file,
    MachineField::inactive_file,
    MachineField::dirty,
    MachineField::writeback,
    MachineField::anon_pages,
    MachineField::mapped,
    MachineField::shmem,
    MachineField::kernel_reclaimable,
    MachineField::slab,
    MachineField::slab_reclaimable,
    MachineField::slab_unreclaimable,
    MachineField::kernel_stack,
    MachineField::page_tables,
    MachineField::committed_as,
    MachineField::vmalloc_used,
    MachineField::percpu,
    MachineField::anon_huge_pages,
    MachineField::pgfault,
    MachineField::pgmajfault,
    MachineField::pgscan_kswapd,
    MachineField::pgscan_file,
    MachineField::pgsteal_kswapd,
    MachineField::pgsteal_file,
    MachineField::workingset_nodes,
    MachineField::workingset_refault_file,
    MachineField::workingset_activate_file,
    MachineField::thp_fault_alloc,
    MachineField::psi_some_avg10,
    MachineField::psi_some_avg60,
    MachineField::psi_some_avg300,
    MachineField::psi_some_total,
    MachineField::psi_full_avg10,
    MachineField::psi_full_avg60,
    MachineField::psi_full_avg300,
    MachineField::psi_full_total,
};

// What most processes have nothing of: in process_rare, where any of them is not usual_value().
inline constexpr std::array kRareProcessFields{
    ProcessField::lazy_free,       ProcessField::shmem_pmd_mapped,
    ProcessField::file_pmd_mapped, ProcessField::shared_hugetlb,
    ProcessField::private_hugetlb, ProcessField::swap_pss,
    ProcessField::locked,          ProcessField::swap,
    ProcessField::vm_lck,          ProcessField::vm_pin,
    ProcessField::vm_swap,         ProcessField::hugetlb_pages,
};

// The fields of E that `some` leave out, in their order.
template <typename E, std::size_t... N>
constexpr auto fields_without(const std::array<E, N>&... some) {
  std::array<E, FieldSet<E>::kCount - (N + ...)> rest{};
  std::size_t found = 0;
  for (std::size_t i = 0; i < FieldSet<E>::kCount; ++i) {
    const auto field = static_cast<E>(i);
    if (!(std::ranges::count(some, field) + ...)) rest[found++] = field;
  }
  return rest;
}

inline constexpr auto kColdProcessFields = fields_without(kHotProcessFields);
inline constexpr auto kStateFields = fields_without(kHotProcessFields, kRareProcessFields);
inline constexpr auto kColdMachineFields = fields_without(kHotMachineFields);

// In the place of a source: the process was not there for a while from this tick on.
inline constexpr std::int64_t kAbsentSource = 5;

// "prefix" + column, separated by ", ".
std::string column_list(std::span<const ProcessField> fields, const std::string& prefix = "");
std::string column_list(std::span<const MachineField> fields, const std::string& prefix = "");

// "?, ?, ?"
std::string placeholders(std::size_t count);

template <typename E>
bool differ(const FieldSet<E>& a, const FieldSet<E>& b, std::span<const E> fields) {
  for (const E field : fields) {
    if (a.get(field) != b.get(field)) return true;
  }
  return false;
}

template <typename E>
void add_fields(Statement& statement, const FieldSet<E>& values, std::span<const E> fields) {
  for (const E field : fields) statement.add(values.get(field));
}

// Reads columns from `column` on.
template <typename E>
void read_fields(const Statement& statement, int column, FieldSet<E>& values, std::span<const E> fields) {
  for (const E field : fields) values.set(field, statement.maybe(column++));
}

// From columns pid, start_ticks and exec_count.
inline ProcessKey read_key(const Statement& row, int column) {
  return {static_cast<std::int32_t>(row.integer(column)), static_cast<std::uint64_t>(row.integer(column + 1)),
          static_cast<std::uint32_t>(row.integer(column + 2))};
}

// Absent if any of them is, or if they are beyond all numbers.
std::optional<std::int64_t> sum_of_fields(const ProcessMemory& values, std::initializer_list<ProcessField> parts);

// What is stored in a column that is left out where it is what others make it, and back: exact for any value but -1.
std::optional<std::int64_t> packed_column(std::optional<std::int64_t> value, std::optional<std::int64_t> derived);
std::optional<std::int64_t> unpacked_column(std::optional<std::int64_t> stored, std::optional<std::int64_t> derived);

// What a field of process_rare is where there is no row: 0, where what says whether it can be known is known.
std::optional<std::int64_t> usual_value(const ProcessMemory& memory, ProcessField field);

// What process_sample stores for `values`, and back: exact for any values but -1.
ProcessMemory packed(const ProcessMemory& values, Source source);
ProcessMemory unpacked(const ProcessMemory& stored, Source source);

// The same of some fields alone, read from no more columns than they are made of.
class Unpacker {
 public:
  explicit Unpacker(std::span<const ProcessField> fields);

  const std::vector<ProcessField>& columns() const { return columns_; }
  void unpack(ProcessMemory& values, Source source) const;

 private:
  std::vector<ProcessField> columns_;
  std::vector<std::size_t> derived_;
};

}  // namespace memoir
