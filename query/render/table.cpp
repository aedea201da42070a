#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "base/text.h"
#include "query/render/cells.h"
#include "query/render/layout.h"
#include "query/render/render.h"

namespace memoir::query {
namespace {

TextTable to_text(const Table& table, const Presentation& presentation) {
  PeoplesTable seen = peoples_table(table, presentation);
  TextTable text;
  for (PeoplesTable::Head& head : seen.heads) {
    const Column& column = *head.column;
    text.columns.push_back(
        {std::move(head.header), is_right(column.kind), column.sorted ? 0 : column.least_useful, column.breaks});
  }
  text.rows = std::move(seen.rows);
  text.tones = table.tones;
  text.parents = table.parents;
  return text;
}

std::string colored(const std::string& line, Tone tone, bool color) {
  if (!color || tone == Tone::plain) return line;
  const char* code = tone == Tone::problem ? "31" : tone == Tone::warning ? "33" : "1";
  return fmt::format("\x1b[{}m{}\x1b[0m\n", code, std::string_view(line).substr(0, line.size() - 1));
}

// Puts the lines of a tree before the names of its rows, which are in depth-first order.
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

std::string draw(TextTable table, bool color, bool ascii) {
  add_branches(table, ascii);
  std::vector<std::string> header;
  for (TextColumn& column : table.columns) header.push_back(std::move(column.header));
  table.rows.insert(table.rows.begin(), std::move(header));
  std::vector<std::size_t> widths(table.columns.size());
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], display_width(row[i]));
  }
  std::string out;
  for (std::size_t at = 0; at < table.rows.size(); ++at) {
    const auto& row = table.rows[at];
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool last = i + 1 == row.size();
      const bool right = table.columns[i].right && (!last || table.parents.empty());
      const std::string padding(widths[i] - display_width(row[i]), ' ');
      if (right) line += padding;
      line += row[i];
      if (!last) line += right ? " " : padding + ' ';
    }
    const Tone tone = at == 0 ? Tone::marked : table.tones.empty() ? Tone::plain : table.tones[at - 1];
    out += colored(line + '\n', tone, color);
  }
  return out;
}

std::string table_text(const Table& table, const Presentation& presentation) {
  if (table.rows.empty()) return {};
  TextTable text = to_text(table, presentation);
  if (presentation.width) {
    fit(text, *presentation.width);
  } else {
    flatten(text, kDeepestRow);
  }
  return draw(std::move(text), presentation.color, presentation.ascii);
}

// Where a line goes on that does not fit: below the text of "Label      text", else two further in than it began.
std::size_t hang_of(const std::string& line) {
  constexpr std::size_t longest_label = 12;
  const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
  const std::size_t gap = line.find("  ", begin);
  const std::size_t text = gap == std::string::npos ? gap : line.find_first_not_of(' ', gap);
  return text <= begin + longest_label ? text : begin + 2;
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

}  // namespace

std::string render_table(const Asked& asked, const Report& report, const Presentation& presentation) {
  // "web1, 2026-11-20 03:14:07: what it shows"
  std::string out = joined(place_and_time(asked, report, presentation.zone), ": ", report.title);
  if (!out.empty()) out = colored(text_line(out, presentation), report.tone, presentation.color);
  if (!report.lead.empty()) out += text_line(report.lead, presentation);
  out += facts_text(report, presentation);
  for (const std::string& line : report.drawing) out += text_line(line, presentation);
  if (!report.rows_title.empty()) out += report.rows_title + "\n";
  out += table_text(report.rows, presentation);
  for (const Section& section : report.sections) {
    if (section.title.empty()) continue;
    const std::string text = table_text(section.table, presentation);
    if (text.empty() && section.notes.empty()) continue;
    out += "\n" + section.title + "\n" + text;
    for (const std::string& note : section.notes) out += text_line(note, presentation);
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
