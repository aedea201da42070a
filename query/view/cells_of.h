#pragma once

// The values of a table by the names of its columns.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "query/report/report.h"

namespace memoir::query::view {

class Cells {
 public:
  explicit Cells(const Table& table) : table_(table) {}

  bool has(std::string_view column) const { return index_of(column).has_value(); }
  // nullopt if the column does not exist or the cell has no number.
  std::optional<double> number(std::size_t row, std::string_view column) const;
  std::optional<std::int64_t> integer(std::size_t row, std::string_view column) const;
  // Empty if the column does not exist or the cell has no text.
  std::string text(std::size_t row, std::string_view column) const;

 private:
  std::optional<std::size_t> index_of(std::string_view column) const;
  const Value* value(std::size_t row, std::string_view column) const;

  const Table& table_;
};

// Return the number or the text of a fact or total; nullopt or empty if there is none of that name.
std::optional<std::int64_t> field_of(const std::vector<Field>& fields, std::string_view name);
std::optional<double> number_of(const std::vector<Field>& fields, std::string_view name);
std::string text_of(const std::vector<Field>& fields, std::string_view name);

}  // namespace memoir::query::view
