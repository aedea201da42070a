// Markdown as GitHub, GitLab and pandoc read it: tables with pipes (github.github.com/gfm, 4.10).

#include <fmt/format.h>

#include "base/text.h"
#include "query/render/cells.h"
#include "query/render/markup.h"
#include "query/render/render.h"

namespace memoir::query {
namespace {

std::string markdown_table(const Table& table, const Presentation& presentation) {
  const PeoplesTable seen = peoples_table(table, presentation);
  if (seen.rows.empty()) return {};
  std::string out;
  for (const PeoplesTable::Head& head : seen.heads) out += "| " + escape_markdown(head.header) + " ";
  out += "|\n";
  for (const PeoplesTable::Head& head : seen.heads) out += is_right(head.column->kind) ? "|---:" : "|---";
  out += "|\n";
  for (const auto& row : seen.rows) {
    for (const std::string& cell : row) out += "| " + escape_markdown(cell) + " ";
    out += "|\n";
  }
  return out + "\n";
}

std::string paragraphs(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) {
    const std::size_t begin = line.find_first_not_of(' ');  // four spaces would make it code
    if (begin != std::string::npos) out += escape_markdown(std::string_view(line).substr(begin)) + "\n\n";
  }
  return out;
}

std::string markdown_facts(const Report& report, const Presentation& presentation) {
  std::string out;
  for (const Field& fact : report.facts) {
    if (fact.label.empty()) continue;
    out += fmt::format("- {}: **{}**\n", escape_markdown(fact.label),
                       escape_markdown(fact_text(fact, presentation.units, presentation.zone)));
  }
  return out.empty() ? out : out + "\n";
}

}  // namespace

std::string render_markdown(const Asked& asked, const Report& report, const Presentation& presentation) {
  const std::string title = joined(place_and_time(asked, report, presentation.zone), ": ", report.title);
  std::string out = "# " + escape_markdown(title) + "\n\n";
  for (const std::string& warning : report.warnings) {
    out += fmt::format("> **Warning:** {}\n\n", escape_markdown(to_printable(warning)));
  }
  out += paragraphs({report.lead}) + markdown_facts(report, presentation);
  if (!report.rows_title.empty()) out += "## " + escape_markdown(report.rows_title) + "\n\n";
  out += markdown_table(report.rows, presentation);
  for (const Section& section : report.sections) {
    if (section.title.empty()) continue;
    const std::string text = markdown_table(section.table, presentation) + paragraphs(section.notes);
    if (!text.empty()) out += "## " + escape_markdown(section.title) + "\n\n" + text;
  }
  out += paragraphs(report.notes);
  if (report.coverage && report.range) out += paragraphs({coverage_line(*report.coverage, presentation.zone)});
  out.pop_back();
  return out;
}

}  // namespace memoir::query
