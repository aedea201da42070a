#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <libsmartcols/libsmartcols.h>
#include <memory>
#include <stdexcept>

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

// What is wrong is red, what may be is yellow, which libsmartcols calls brown.
const char* color_name(Tone tone) {
  return tone == Tone::problem ? "red" : tone == Tone::warning ? "brown" : "bold";
}

std::string colored(const std::string& line, Tone tone, bool color) {
  if (!color || tone == Tone::plain) return line;
  const char* code = tone == Tone::problem ? "31" : tone == Tone::warning ? "33" : "1";
  return fmt::format("\x1b[{}m{}\x1b[0m\n", code, std::string_view(line).substr(0, line.size() - 1));
}

// libsmartcols fails only where memory does.
void check(int failed) {
  if (failed != 0) throw std::runtime_error("libsmartcols could not lay out a table");
}

std::string draw(const TextTable& text, bool color, bool ascii) {
  const std::unique_ptr<libscols_table, void (*)(libscols_table*)> table(scols_new_table(), scols_unref_table);
  if (!table) throw std::bad_alloc();
  // The table fits already: libsmartcols is not to look at the terminal.
  scols_table_set_termforce(table.get(), SCOLS_TERMFORCE_NEVER);
  // All text is showable already, with escapes of our own that are not to be escaped again. libsmartcols never comes
  // back from text that has no width, as all but ASCII has none in a locale of single bytes.
  scols_table_enable_noencoding(table.get(), MB_CUR_MAX > 1 ? 1 : 0);
  scols_table_enable_colors(table.get(), color ? 1 : 0);
  scols_table_enable_ascii(table.get(), ascii ? 1 : 0);
  for (const TextColumn& column : text.columns) {
    const bool tree = !text.parents.empty() && &column == &text.columns.back();
    const int flags = tree ? SCOLS_FL_TREE : column.right ? SCOLS_FL_RIGHT : 0;
    libscols_column* made = scols_table_new_column(table.get(), column.header.c_str(), 0, flags);
    if (made == nullptr) throw std::bad_alloc();
    if (color) check(scols_cell_set_color(scols_column_get_header(made), "bold"));
  }
  std::vector<libscols_line*> lines;
  lines.reserve(text.rows.size());
  for (std::size_t i = 0; i < text.rows.size(); ++i) {
    const auto parent = text.parents.empty() ? std::nullopt : text.parents[i];
    libscols_line* line = scols_table_new_line(table.get(), parent ? lines[*parent] : nullptr);
    if (line == nullptr) throw std::bad_alloc();
    lines.push_back(line);
    const Tone tone = text.tones.empty() ? Tone::plain : text.tones[i];
    if (color && tone != Tone::plain) check(scols_line_set_color(line, color_name(tone)));
    for (std::size_t cell = 0; cell < text.rows[i].size(); ++cell)
      check(scols_line_set_data(line, cell, text.rows[i][cell].c_str()));
  }
  char* raw = nullptr;
  check(scols_print_table_to_string(table.get(), &raw));
  const std::unique_ptr<char, void (*)(void*)> owned(raw, std::free);
  return raw == nullptr ? std::string() : std::string(raw);
}

std::string table_text(const Table& table, const Presentation& presentation) {
  if (table.rows.empty()) return {};
  TextTable text = to_text(table, presentation);
  if (presentation.width) {
    fit(text, *presentation.width);
  } else {
    flatten(text, kDeepestRow);
  }
  std::string drawn = draw(text, presentation.color, presentation.ascii);
  if (!drawn.empty() && drawn.back() != '\n') drawn += '\n';
  return drawn;
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
