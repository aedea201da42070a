#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <libsmartcols/libsmartcols.h>
#include <memory>
#include <stdexcept>

#include "base/text.h"
#include "query/coverage.h"
#include "query/format.h"
#include "query/layout.h"
#include "query/render.h"

namespace memoir::query {
namespace {

constexpr const char* kUnknown = "–";

std::string cell_text(const Value& value, Kind kind, SizeUnit unit, Zone zone) {
  if (std::holds_alternative<std::monostate>(value)) return kUnknown;
  if (const auto* text = std::get_if<std::string>(&value)) {
    const std::string shown = showable(to_printable(to_utf8(*text)));
    return kind == Kind::sentence ? times_in_zone(shown, zone) : shown;
  }
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "yes" : "no";
  if (const auto* real = std::get_if<double>(&value)) {
    if (kind == Kind::percent) return print_percent(*real);
    if (kind == Kind::size) return print_size(static_cast<std::int64_t>(*real), unit);
    return fmt::format("{:.1f}", *real);
  }
  if (const auto* list = std::get_if<std::vector<double>>(&value)) return fmt::format("{:.4g}", fmt::join(*list, " to "));
  const std::int64_t number = std::get<std::int64_t>(value);
  switch (kind) {
    case Kind::size:
      return print_size(number, unit);
    case Kind::change:
      return print_change(number, unit);
    case Kind::time:
      return print_time(number, zone);
    case Kind::duration:
      return print_span(number);
    case Kind::percent:
      return print_percent(static_cast<double>(number));
    case Kind::text:
    case Kind::sentence:
    case Kind::count:
      break;
  }
  return fmt::format("{}", number);
}

bool is_size(Kind kind) {
  return kind == Kind::size || kind == Kind::change;
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

TextTable to_text(const Table& table, const Presentation& presentation) {
  const SizeUnit unit = unit_of(table, presentation.units);
  TextTable text;
  text.rows.resize(table.rows.size());
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const Column& column = table.columns[i];
    if (column.shown == Shown::machines) continue;
    const bool size = is_size(column.kind);
    const bool right = column.kind != Kind::text && column.kind != Kind::sentence && column.kind != Kind::time;
    text.columns.push_back({size ? fmt::format("{} {}", column.header, unit.name) : column.header, right,
                            column.least_useful, column.breaks});
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
      text.rows[row].push_back(cell_text(table.rows[row][i], column.kind, unit, presentation.zone));
    }
  }
  return text;
}

// libsmartcols fails only where memory does.
void check(int failed) {
  if (failed != 0) throw std::runtime_error("libsmartcols could not lay out a table");
}

std::string draw(const TextTable& text, bool color) {
  const std::unique_ptr<libscols_table, void (*)(libscols_table*)> table(scols_new_table(), scols_unref_table);
  if (!table) throw std::bad_alloc();
  // The table fits already: libsmartcols is not to look at the terminal.
  scols_table_set_termforce(table.get(), SCOLS_TERMFORCE_NEVER);
  // All text is showable already, with escapes of our own that are not to be escaped again. libsmartcols never comes
  // back from text that has no width, as all but ASCII has none in a locale of single bytes.
  scols_table_enable_noencoding(table.get(), MB_CUR_MAX > 1 ? 1 : 0);
  scols_table_enable_colors(table.get(), color ? 1 : 0);
  for (const TextColumn& column : text.columns) {
    libscols_column* made =
        scols_table_new_column(table.get(), column.header.c_str(), 0, column.right ? SCOLS_FL_RIGHT : 0);
    if (made == nullptr) throw std::bad_alloc();
    if (color) check(scols_cell_set_color(scols_column_get_header(made), "bold"));
  }
  for (const auto& row : text.rows) {
    libscols_line* line = scols_table_new_line(table.get(), nullptr);
    if (line == nullptr) throw std::bad_alloc();
    for (std::size_t i = 0; i < row.size(); ++i) check(scols_line_set_data(line, i, row[i].c_str()));
  }
  char* raw = nullptr;
  check(scols_print_table_to_string(table.get(), &raw));
  const std::unique_ptr<char, void (*)(void*)> owned(raw, std::free);
  return raw == nullptr ? std::string() : std::string(raw);
}

std::string table_text(const Table& table, const Presentation& presentation) {
  if (table.rows.empty()) return {};
  TextTable text = to_text(table, presentation);
  if (presentation.width) fit(text, *presentation.width);
  std::string drawn = draw(text, presentation.color);
  if (!drawn.empty() && drawn.back() != '\n') drawn += '\n';
  return drawn;
}

// "web1, 2026-11-20 03:14:07: what it shows"
std::string heading(const Asked& asked, const Report& report, Zone zone) {
  std::string line = to_printable(to_utf8(asked.host));
  if (!line.empty() && (report.at_ms || report.range)) line += ", ";
  if (report.at_ms) line += print_time(*report.at_ms, zone);
  if (report.range) line += print_time(report.range->from_ms, zone) + " to " + print_time(report.range->to_ms, zone);
  if (report.title.empty()) return line;
  return line.empty() ? report.title : line + ": " + report.title;
}

// Where a line goes on that does not fit: below the text of "Label      text", else two further in than it began.
std::size_t hang_of(const std::string& line) {
  constexpr std::size_t longest_label = 12;
  const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
  const std::size_t gap = line.find("  ", begin);
  const std::size_t text = gap == std::string::npos ? gap : line.find_first_not_of(' ', gap);
  return text <= begin + longest_label ? text : begin + 2;
}

std::string text_line(const std::string& line, const Presentation& presentation) {
  return (presentation.width ? wrap(line, *presentation.width, hang_of(line)) : line) + "\n";
}

std::string facts_text(const Report& report, const Presentation& presentation) {
  std::size_t width = 0;
  for (const Field& fact : report.facts) width = std::max(width, display_width(fact.label));
  std::string out;
  for (const Field& fact : report.facts) {
    if (fact.label.empty()) continue;
    const auto* size = std::get_if<std::int64_t>(&fact.value);
    const std::string text = fact.kind == Kind::size && size != nullptr
                                 ? print_size(*size, presentation.units)
                                 : cell_text(fact.value, fact.kind, SizeUnit{"KiB", 1}, presentation.zone);
    out += text_line(fact.label + std::string(width - display_width(fact.label) + 2, ' ') + text, presentation);
  }
  return out;
}

}  // namespace

std::string render_table(const Asked& asked, const Report& report, const Presentation& presentation) {
  std::string out = heading(asked, report, presentation.zone);
  if (!out.empty()) out = text_line(out, presentation);
  if (!report.lead.empty()) out += text_line(report.lead, presentation);
  out += facts_text(report, presentation);
  for (const std::string& line : report.drawing) out += text_line(line, presentation);
  out += table_text(report.rows, presentation);
  for (const Section& section : report.sections) {
    if (section.title.empty()) continue;
    const std::string text = table_text(section.table, presentation);
    if (!text.empty()) out += "\n" + section.title + "\n" + text;
  }
  for (const std::string& note : report.notes) out += text_line(note, presentation);
  if (report.coverage && report.range)
    out += text_line(coverage_line(*report.coverage, presentation.zone), presentation);
  for (const std::string& warning : report.warnings) {
    const std::string text = text_line("Warning: " + to_printable(to_utf8(warning)), presentation);
    out += presentation.color ? "\x1b[33m" + text.substr(0, text.size() - 1) + "\x1b[0m\n" : text;
  }
  return out;
}

}  // namespace memoir::query
