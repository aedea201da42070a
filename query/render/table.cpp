#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "base/text.h"
#include "query/render/cells.h"
#include "query/render/layout.h"
#include "query/render/render.h"
#include "query/render/table_text.h"

namespace memoir::query {

TextTable text_table(const Table& table, const Presentation& presentation) {
  DisplayTable seen = display_table(table, presentation);
  TextTable text;
  for (DisplayTable::Head& head : seen.heads) {
    const Column& column = *head.column;
    text.columns.push_back(
        {std::move(head.header), is_right(column.kind), column.sorted ? 0 : column.drop_order, column.breaks});
  }
  text.rows = std::move(seen.rows);
  text.tones = table.tones;
  text.parents = table.parents;
  return text;
}

namespace {

std::string colored(const std::string& line, Tone tone, bool color) {
  if (!color || tone == Tone::plain) return line;
  const char* code = tone == Tone::problem ? "31" : tone == Tone::warning ? "33" : "1";
  return fmt::format("\x1b[{}m{}\x1b[0m\n", code, std::string_view(line).substr(0, line.size() - 1));
}

// Adds the lines of a tree before the names of its rows, which are in depth-first order.
void add_branches(TextTable& table, bool ascii) {
  const Parents& parents = table.parents;
  std::vector<bool> has_later_sibling(parents.size());
  std::vector<bool> has_child(parents.size());
  for (std::size_t i = parents.size(); i-- > 0;) {
    if (!parents[i]) continue;
    has_later_sibling[i] = has_child[*parents[i]];
    has_child[*parents[i]] = true;
  }
  for (std::size_t i = 0; i < parents.size(); ++i) {
    if (!parents[i]) continue;
    std::string branch = has_later_sibling[i] ? (ascii ? "|-" : "├─") : (ascii ? "`-" : "└─");
    for (std::size_t at = *parents[i]; parents[at]; at = *parents[at])
      branch.insert(0, !has_later_sibling[at] ? "  " : ascii ? "| " : "│ ");
    table.rows[i].back().insert(0, branch);
  }
}

}  // namespace

std::vector<std::string> table_lines(TextTable table, bool ascii) {
  add_branches(table, ascii);
  std::vector<std::string> header;
  for (TextColumn& column : table.columns) header.push_back(std::move(column.header));
  table.rows.insert(table.rows.begin(), std::move(header));
  std::vector<std::size_t> widths(table.columns.size());
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], display_width(row[i]));
  }
  std::vector<std::string> lines;
  for (const auto& row : table.rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool last = i + 1 == row.size();
      const bool right = table.columns[i].right && (!last || table.parents.empty());
      const std::string padding(widths[i] - display_width(row[i]), ' ');
      if (right) line += padding;
      line += row[i];
      if (!last) line += right ? " " : padding + ' ';
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

namespace {

std::string draw(TextTable table, bool color, bool ascii) {
  const std::vector<Tone> tones = table.tones;
  const std::vector<std::string> lines = table_lines(std::move(table), ascii);
  std::string out;
  std::size_t at = 0;
  for (const std::string& line : lines) {
    const Tone tone = at == 0 ? Tone::marked : tones.empty() ? Tone::plain : tones[at - 1];
    out += colored(line + '\n', tone, color);
    ++at;
  }
  return out;
}

std::string table_text(const Table& table, const Presentation& presentation) {
  if (table.rows.empty()) return {};
  TextTable text = text_table(table, presentation);
  if (presentation.width) {
    fit(text, *presentation.width);
  } else {
    flatten(text, kDeepestRow);
  }
  return draw(std::move(text), presentation.color, presentation.ascii);
}

// Returns the indent of continuation lines: up to the text of "Label      text", otherwise two more than the line's own
// indent.
std::size_t hang_of(const std::string& line) {
  const LabelledLine parts = split_label(line);
  const std::size_t begin = line.size() - parts.text.size();
  return parts.label.empty() ? begin + 2 : begin;
}

std::string text_line(const std::string& text, const Presentation& presentation) {
  const std::string line = showable(to_printable(text));
  return (presentation.width ? wrap(line, *presentation.width, hang_of(line)) : line) + "\n";
}

std::string facts_text(const Report& report, const Presentation& presentation) {
  std::size_t width = 0;
  for (const Field& fact : report.facts) width = std::max(width, display_width(fact.label));
  std::string out;
  for (const Field& fact : report.facts) {
    if (fact.label.empty()) continue;
    const std::string text = fact_text(fact, presentation.units, presentation.zone);
    const std::string line = fact.label + std::string(width - display_width(fact.label) + 2, ' ') + text;
    out += colored(text_line(line, presentation), fact.tone, presentation.color);
  }
  return out;
}

// Returns a section with its title and notes; empty if it has neither rows nor notes.
std::string section_text(const Section& section, const Presentation& presentation) {
  std::string out = table_text(section.table, presentation);
  if (section.title.empty() || (out.empty() && section.notes.empty())) return {};
  out.insert(0, section.title + "\n");
  for (const std::string& note : section.notes) out += text_line(note, presentation);
  return out;
}

}  // namespace

std::string render_table(const ReportContext& asked, const Report& report, const Presentation& presentation) {
  // "web1, 2026-11-20 03:14:07: what it shows"
  std::string out = joined(place_and_time(asked, report, presentation.zone), ": ", report.title);
  if (!out.empty()) out = colored(text_line(out, presentation), report.tone, presentation.color);
  if (report.first) {
    const std::string text = section_text(*report.first, presentation);
    if (!text.empty()) out += "\n" + text + "\n";
  }
  if (!report.lead.empty()) out += text_line(report.lead, presentation);
  out += facts_text(report, presentation);
  for (const std::string& line : report.drawing) out += text_line(line, presentation);
  if (!report.rows_title.empty()) out += report.rows_title + "\n";
  out += table_text(report.rows, presentation);
  for (const Section& section : report.sections) {
    const std::string text = section_text(section, presentation);
    if (!text.empty()) out += "\n" + text;
  }
  for (const std::string& note : report.notes) out += text_line(note, presentation);
  if (report.coverage && report.range)
    out += text_line(coverage_line(*report.coverage, presentation.zone), presentation);
  for (const std::string& warning : report.warnings) {
    out += colored(text_line("Warning: " + to_printable(warning), presentation), Tone::warning, presentation.color);
  }
  return out;
}

}  // namespace memoir::query
