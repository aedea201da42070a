#include "query/report/columns.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <utility>

#include "base/nearest.h"
#include "base/text.h"
#include "base/transformed.h"

namespace memoir::query {
namespace {

std::string normal_form(std::string_view text) {
  std::string normal = to_lower(text);
  std::ranges::replace(normal, ' ', '_');
  std::ranges::replace(normal, '-', '_');
  return normal;
}

std::string without_unit(const std::string& name) {
  for (const std::string_view unit : {"_kib", "_ms", "_percent"}) {
    if (name.size() > unit.size() && name.ends_with(unit)) return name.substr(0, name.size() - unit.size());
  }
  return name;
}

std::string name_of(const Column& column) {
  return column.name.empty() ? normal_form(column.header) : without_unit(column.name);
}

bool is_named(const Column& column, std::string_view name) {
  return name == column.name || name == name_of(column) ||
         (!column.header.empty() && name == normal_form(column.header));
}

// Returns the column with that name. If two columns have it, prefers a column that is not limited to the `other`
// output.
std::optional<std::size_t> find_column(const Table& table, std::string_view name, Shown other) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const Column& column = table.columns[i];
    if (!is_named(column, name)) continue;
    if (column.shown != other) return i;
    if (!found) found = i;
  }
  return found;
}

Error unknown_column(const std::string& name, const Table& table) {
  std::vector<std::string> names;
  for (const Column& column : table.columns) {
    std::string known = name_of(column);
    if (!known.empty() && std::ranges::find(names, known) == names.end()) names.push_back(std::move(known));
  }
  return malformed(fmt::format("--columns: '{}' is not one of {}{}", to_printable(name), fmt::join(names, ", "),
                               did_you_mean(name, names)));
}

Column chosen(Column column) {
  if (column.header.empty()) {
    for (const char letter : without_unit(column.name))
      column.header += letter == '_' ? ' ' : static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  }
  if (column.name.empty()) column.name = normal_form(column.header);
  column.shown = Shown::everywhere;
  column.drop_order = 0;
  return column;
}

}  // namespace

std::vector<std::string> split_columns(std::string_view list) {
  std::vector<std::string> names;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    names.emplace_back(trim(list.substr(0, comma)));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return names;
}

Status choose_columns(const std::vector<std::string>& names, bool is_data_format, Table& table) {
  if (table.columns.empty()) return malformed("--columns: this answer has no table");
  const Shown other = is_data_format ? Shown::people : Shown::machines;
  std::vector<std::size_t> places;
  for (const std::string& name : names) {
    const auto place = find_column(table, normal_form(name), other);
    if (!place) return unknown_column(name, table);
    if (std::ranges::find(places, *place) == places.end()) places.push_back(*place);
  }
  if (!table.parents.empty() && !is_data_format) {
    std::erase(places, table.columns.size() - 1);
    places.push_back(table.columns.size() - 1);
  }
  std::vector<Column> columns;
  columns.reserve(places.size());
  for (const std::size_t place : places) {
    columns.push_back(chosen(table.columns[place]));
    columns.back().breaks = columns.back().breaks && place == places.back();
  }
  table.columns = std::move(columns);
  for (std::vector<Value>& row : table.rows) {
    row = transformed(places, [&row](std::size_t place) { return std::move(row[place]); });
  }
  table.in_order = true;
  return Done{};
}

}  // namespace memoir::query
