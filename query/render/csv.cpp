#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "query/render/render.h"

namespace memoir::query {
namespace {

std::string in_quotes(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

// Floating-point numbers have 12 digits, enough for the size of any machine in KiB.
struct CellText {
  std::string operator()(std::monostate) const { return {}; }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(std::int64_t value) const { return fmt::format("{}", value); }
  std::string operator()(double value) const { return fmt::format("{:.12g}", value); }
  std::string operator()(const std::string& value) const { return in_quotes(to_utf8(value)); }
  std::string operator()(const std::vector<double>& value) const {
    return fmt::format("{:.12g}", fmt::join(value, " "));
  }
};

// Adds a line: `first`, then the machine-readable cells. `text` returns the cell at an index.
template <typename Text>
void add_line(std::string& out, std::string_view first, const std::vector<Column>& columns, Text text) {
  out += first;
  bool begins = first.empty();
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].shown == Shown::people) continue;
    if (!begins) out += ',';
    begins = false;
    out += text(i);
  }
  out += '\n';
}

}  // namespace

std::string csv_header(const std::vector<Column>& columns, std::string_view first) {
  std::string out;
  add_line(out, first, columns, [&](std::size_t i) { return columns[i].name; });
  return out;
}

std::string csv_rows(const Table& table, std::string_view first) {
  std::string out;
  for (const auto& row : table.rows) {
    add_line(out, first, table.columns, [&](std::size_t i) { return std::visit(CellText{}, row[i]); });
  }
  return out;
}

std::string render_csv(const Report& report) {
  // Without the time, answers collected in one file could not be distinguished.
  constexpr std::string_view time = "at_ms";
  const std::vector<Column>& columns = report.rows.columns;
  if (!report.at_ms || std::ranges::find(columns, time, &Column::name) != columns.end())
    return csv_header(columns) + csv_rows(report.rows);
  return csv_header(columns, time) + csv_rows(report.rows, std::to_string(*report.at_ms));
}

}  // namespace memoir::query
