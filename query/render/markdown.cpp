// Markdown for GitHub, GitLab and pandoc: tables with pipes (github.github.com/gfm, 4.10).

#include <fmt/format.h>

#include "base/text.h"
#include "query/render/cells.h"
#include "query/render/layout.h"
#include "query/render/markup.h"
#include "query/render/render.h"

namespace memoir::query {
namespace {

std::string markdown_table(const Table& table, const Presentation& presentation) {
  const DisplayTable seen = display_table(table, presentation);
  if (seen.rows.empty()) return {};
  std::string out;
  for (const DisplayTable::Head& head : seen.heads) out += "| " + escape_markdown(head.header) + " ";
  out += "|\n";
  for (const DisplayTable::Head& head : seen.heads) out += is_right(head.column->kind) ? "|---:" : "|---";
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
    const LabelledLine parts = split_label(line);  // without leading spaces: four would make it code
    if (!parts.label.empty()) out += "**" + escape_markdown(parts.label) + "** ";
    if (!parts.text.empty()) out += escape_markdown(parts.text) + "\n\n";
  }
  return out;
}

// Four spaces make drawn lines a code block, which keeps their columns. A fence is not used, because the lines may
// contain its characters.
std::string markdown_drawing(const Report& report) {
  std::string out;
  if (!report.charts.empty()) return out;
  for (const std::string& line : report.drawing) {
    if (!line.empty()) out += "    " + showable(to_printable(line));
    out += '\n';
  }
  return out.find_first_not_of('\n') == std::string::npos ? std::string() : out + '\n';
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

std::string markdown_section(const Section& section, const Presentation& presentation) {
  const std::string text = markdown_table(section.table, presentation) + paragraphs(section.notes);
  return section.title.empty() || text.empty() ? std::string() : "## " + escape_markdown(section.title) + "\n\n" + text;
}

}  // namespace

std::string render_markdown(const ReportContext& asked, const Report& report, const Presentation& presentation) {
  const std::string title = joined(place_and_time(asked, report, presentation.zone), ": ", report.title);
  std::string out = "# " + escape_markdown(title) + "\n\n";
  for (const std::string& warning : report.warnings) {
    out += fmt::format("> **Warning:** {}\n\n", escape_markdown(to_printable(warning)));
  }
  if (report.first) out += markdown_section(*report.first, presentation);
  out += paragraphs({report.lead}) + markdown_facts(report, presentation) + markdown_drawing(report);
  if (!report.rows_title.empty()) out += "## " + escape_markdown(report.rows_title) + "\n\n";
  out += markdown_table(report.rows, presentation);
  for (const Section& section : report.sections) out += markdown_section(section, presentation);
  out += paragraphs(report.notes);
  if (report.coverage && report.range) out += paragraphs({coverage_line(*report.coverage, presentation.zone)});
  out.pop_back();
  return out;
}

}  // namespace memoir::query
