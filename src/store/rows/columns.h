#pragma once

// Converts fields to columns and back, including columns of processes that are stored only if they differ from a value
// derived from others (store/stored_fields.h).

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
#include "store/stored_fields.h"

namespace memoir {

// Returns the columns, each after `prefix`, separated by ", ".
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

// Reads the columns pid, start_ticks and exec_count.
inline ProcessKey read_key(const Statement& row, int column) {
  return {static_cast<std::int32_t>(row.integer(column)), static_cast<std::uint64_t>(row.integer(column + 1)),
          static_cast<std::uint32_t>(row.integer(column + 2))};
}

// Converts a value to its column, which is NULL if `derived` replaces it, and back. Lossless for any value except -1.
std::optional<std::int64_t> packed_column(std::optional<std::int64_t> value, std::optional<std::int64_t> derived);
std::optional<std::int64_t> unpacked_column(std::optional<std::int64_t> stored, std::optional<std::int64_t> derived);

// Returns the value of a field of process_rare if there is no row.
std::optional<std::int64_t> usual_value(const ProcessMemory& memory, ProcessField field);

// Returns the columns of process_sample and process_state for `values`. Lossless for any values except -1.
ProcessMemory packed(const ProcessMemory& values, Source source);
// Returns the values of process_sample for its columns.
ProcessMemory unpacked(const ProcessMemory& stored, Source source);

// Unpacks some of the fields, from only the columns that they need.
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
