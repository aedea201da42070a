#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "query/render/render.h"

namespace memoir::query {
namespace {

using Json = nlohmann::ordered_json;

struct CellJson {
  Json operator()(std::monostate) const { return nullptr; }
  Json operator()(bool value) const { return value; }
  Json operator()(std::int64_t value) const { return value; }
  Json operator()(double value) const { return value; }
  Json operator()(const std::string& value) const { return to_utf8(value); }
  Json operator()(const std::vector<double>& value) const { return value; }
};

Json row_json(const std::vector<Column>& columns, const std::vector<Value>& cells) {
  Json row = Json::object();
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (columns[i].shown == Shown::people) continue;
    row[columns[i].name] = std::visit(CellJson{}, cells[i]);
  }
  return row;
}

// Starts at the last row: all descendants of a row are complete before it moves into its parent.
Json nested(Json rows, const Parents& parents) {
  std::vector<Json::array_t> children(parents.size() + 1);  // the last entry has the roots; each list is reversed
  for (std::size_t i = parents.size(); i-- > 0;) {
    std::ranges::reverse(children[i]);
    rows[i]["children"] = std::move(children[i]);
    children[parents[i].value_or(parents.size())].push_back(std::move(rows[i]));
  }
  std::ranges::reverse(children.back());
  return std::move(children.back());
}

Json rows_json(const Table& table) {
  Json rows = Json::array();
  for (const auto& cells : table.rows) rows.push_back(row_json(table.columns, cells));
  if (table.parents.empty()) return rows;
  return nested(std::move(rows), no_deeper(table.parents, kDeepestRow));
}

Json coverage_json(const Coverage& coverage) {
  Json gaps = Json::array();
  for (const Gap& gap : coverage.gaps) {
    gaps.push_back({{"from_ms", gap.from_ms}, {"to_ms", gap.to_ms}, {"reason", to_utf8(gap.reason)}});
  }
  return {{"ticks", coverage.ticks},
          {"recorded_ms", coverage.recorded_ms},
          {"runs", coverage.runs},
          {"gaps", std::move(gaps)}};
}

}  // namespace

std::string json_lines(const Table& table) {
  std::string out;
  for (const auto& cells : table.rows) out += row_json(table.columns, cells).dump(-1, ' ', true) + "\n";
  return out;
}

std::string render_json(const ReportContext& asked, const Report& report) {
  Json out;
  out["schema_version"] = kJsonSchemaVersion;
  out["command"] = asked.command;
  out["db"] = to_utf8(asked.db);
  out["host"] = to_utf8(asked.host);
  if (report.at_ms) out["at_ms"] = *report.at_ms;
  if (report.range) out["range"] = {{"from_ms", report.range->from_ms}, {"to_ms", report.range->to_ms}};
  out["coverage"] = report.coverage ? coverage_json(*report.coverage) : Json(nullptr);
  for (const Field& fact : report.facts) out[fact.name] = std::visit(CellJson{}, fact.value);
  if (report.first) out[report.first->name] = rows_json(report.first->table);
  for (const Column& column : report.rows.columns) {
    if (column.sorted && column.shown != Shown::people) out["sorted_by"] = column.name;
  }
  out["rows"] = rows_json(report.rows);
  for (const Section& section : report.sections) out[section.name] = rows_json(section.table);
  out["totals"] = Json::object();
  for (const Field& total : report.totals) out["totals"][total.name] = std::visit(CellJson{}, total.value);
  out["warnings"] = Json::array();
  for (const std::string& warning : report.warnings) out["warnings"].push_back(to_utf8(warning));
  // Everything except ASCII is escaped: foreign text in a process name cannot affect the terminal.
  return out.dump(2, ' ', true) + "\n";
}

}  // namespace memoir::query
