#include "query/view/cells_of.h"

#include <algorithm>

namespace memoir::query::view {

std::optional<std::size_t> Cells::index_of(std::string_view column) const {
  const auto found = std::ranges::find(table_.columns, column, &Column::name);
  if (found == table_.columns.end()) return std::nullopt;
  return static_cast<std::size_t>(found - table_.columns.begin());
}

const Value* Cells::value(std::size_t row, std::string_view column) const {
  const auto index = index_of(column);
  if (!index || row >= table_.rows.size() || *index >= table_.rows[row].size()) return nullptr;
  return &table_.rows[row][*index];
}

std::optional<std::int64_t> Cells::integer(std::size_t row, std::string_view column) const {
  const Value* const found = value(row, column);
  const auto* const number = found == nullptr ? nullptr : std::get_if<std::int64_t>(found);
  return number == nullptr ? std::nullopt : std::optional(*number);
}

std::optional<double> Cells::number(std::size_t row, std::string_view column) const {
  if (const auto whole = integer(row, column)) return static_cast<double>(*whole);
  const Value* const found = value(row, column);
  const auto* const real = found == nullptr ? nullptr : std::get_if<double>(found);
  return real == nullptr ? std::nullopt : std::optional(*real);
}

std::string Cells::text(std::size_t row, std::string_view column) const {
  const Value* const found = value(row, column);
  const auto* const text = found == nullptr ? nullptr : std::get_if<std::string>(found);
  return text == nullptr ? std::string() : *text;
}

namespace {

template <typename T>
const T* find_field(const std::vector<Field>& fields, std::string_view name) {
  const auto found = std::ranges::find(fields, name, &Field::name);
  return found == fields.end() ? nullptr : std::get_if<T>(&found->value);
}

}  // namespace

std::optional<std::int64_t> field_of(const std::vector<Field>& fields, std::string_view name) {
  const auto* const number = find_field<std::int64_t>(fields, name);
  return number == nullptr ? std::nullopt : std::optional(*number);
}

std::optional<double> number_of(const std::vector<Field>& fields, std::string_view name) {
  const auto* const number = find_field<double>(fields, name);
  return number == nullptr ? std::nullopt : std::optional(*number);
}

std::string text_of(const std::vector<Field>& fields, std::string_view name) {
  const auto* const text = find_field<std::string>(fields, name);
  return text == nullptr ? std::string() : *text;
}

}  // namespace memoir::query::view
