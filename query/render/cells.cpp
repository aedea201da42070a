#include "query/render/cells.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "query/render/layout.h"

namespace memoir::query {

namespace {

constexpr const char* kUnknown = "–";

}  // namespace

bool is_size(Kind kind) {
  return kind == Kind::size || kind == Kind::change;
}

bool is_right(Kind kind) {
  return kind != Kind::text && kind != Kind::sentence && kind != Kind::time;
}

SizeUnit unit_of(const Table& table, Units units) {
  std::vector<std::int64_t> sizes;
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (!is_size(table.columns[i].kind) || table.columns[i].shown == Shown::machines) continue;
      if (const auto* size = std::get_if<std::int64_t>(&row[i])) sizes.push_back(*size);
    }
  }
  return choose_unit(std::move(sizes), units);
}

std::string cell_text(const Value& value, Kind kind, SizeUnit unit, Zone zone) {
  if (std::holds_alternative<std::monostate>(value)) return kUnknown;
  if (const auto* text = std::get_if<std::string>(&value)) {
    if (text->empty()) return kUnknown;
    const std::string shown = showable(to_printable(*text));
    return kind == Kind::sentence ? times_in_zone(shown, zone) : shown;
  }
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "yes" : "no";
  if (const auto* real = std::get_if<double>(&value)) {
    if (kind == Kind::percent) return format_percent(*real);
    if (kind == Kind::size) return format_size(static_cast<std::int64_t>(*real), unit);
    return format_decimal(*real);
  }
  if (const auto* list = std::get_if<std::vector<double>>(&value))
    return fmt::format("{:.4g}", fmt::join(*list, " to "));
  const std::int64_t number = std::get<std::int64_t>(value);
  switch (kind) {
    case Kind::size:
      return format_size(number, unit);
    case Kind::change:
      return format_change(number, unit);
    case Kind::time:
      return format_time(number, zone);
    case Kind::duration:
      return format_span(number);
    case Kind::percent:
      return format_percent(static_cast<double>(number));
    case Kind::text:
    case Kind::sentence:
    case Kind::count:
      break;
  }
  return fmt::format("{}", number);
}

std::string text_with_unit(const Value& value, Kind kind, Units units, Zone zone) {
  const auto* size = std::get_if<std::int64_t>(&value);
  if (size != nullptr && kind == Kind::size) return format_size(*size, units);
  if (size != nullptr && kind == Kind::change) return format_change(*size, units);
  return cell_text(value, kind, SizeUnit{"KiB", 1}, zone);
}

DisplayTable display_table(const Table& table, const Presentation& presentation) {
  const SizeUnit unit = unit_of(table, presentation.units);
  std::vector<std::size_t> order;
  for (const bool sorted : {true, false}) {
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      const bool first = table.columns[i].sorted && !table.in_order;
      if (first == sorted && table.columns[i].shown != Shown::machines) order.push_back(i);
    }
  }
  DisplayTable seen;
  seen.rows.resize(table.rows.size());
  for (const std::size_t i : order) {
    const Column& column = table.columns[i];
    const bool unit_above = is_size(column.kind) && !table.own_units;
    std::string header = unit_above ? fmt::format("{} {}", column.header, unit.name) : column.header;
    if (column.sorted) header += presentation.ascii ? " v" : " ▼";
    seen.heads.push_back({&column, std::move(header)});
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
      const Value& value = table.rows[row][i];
      seen.rows[row].push_back(table.own_units
                                   ? text_with_unit(value, column.kind, presentation.units, presentation.zone)
                                   : cell_text(value, column.kind, unit, presentation.zone));
    }
  }
  return seen;
}

std::string fact_text(const Field& fact, Units units, Zone zone) {
  return text_with_unit(fact.value, fact.kind, units, zone);
}

std::string joined(const std::string& first, std::string_view between, const std::string& second) {
  return first + std::string(first.empty() || second.empty() ? "" : between) + second;
}

std::string time_asked(const Report& report, Zone zone) {
  if (report.at_ms) return format_time(*report.at_ms, zone);
  if (report.range && !report.title_has_range)
    return format_time(report.range->from_ms, zone) + " to " + format_time(report.range->to_ms, zone);
  return {};
}

std::string place_and_time(const ReportContext& asked, const Report& report, Zone zone) {
  return joined(to_printable(asked.host), ", ", time_asked(report, zone));
}

}  // namespace memoir::query
