// One page that carries all it needs: it is mailed, printed, read on a phone and years later. No script, no request to
// anywhere. Mail clients drop what they do not know (Gmail drops SVG): so every number of a chart is in a table too.

#include <array>
#include <fmt/format.h>

#include "base/text.h"
#include "query/render/cells.h"
#include "query/render/html_chart.h"
#include "query/render/html_style.h"
#include "query/render/layout.h"
#include "query/render/markup.h"
#include "query/render/render.h"

namespace memoir::query {
namespace {

// A column that goes first where the page is as narrow as a phone.
constexpr int kLessUseful = 3;
// What is longer is clipped, and shown whole where the mouse rests on it.
constexpr std::size_t kLongestName = 120;

std::string element(const char* tag, const std::string& text) {
  return text.empty() ? std::string() : fmt::format("<{}>{}</{}>\n", tag, escape_html(text), tag);
}

std::string cell_class(const Column& column) {
  std::string name = is_right(column.kind) ? "n" : column.kind == Kind::time ? "t" : "";
  const char* more = column.sorted ? "sorted" : column.least_useful >= kLessUseful ? "less" : "";
  if (*more != '\0') name += name.empty() ? more : fmt::format(" {}", more);
  return name.empty() ? name : fmt::format(" class=\"{}\"", name);
}

// " class="problem"", or nothing.
std::string tone_class(Tone tone) {
  constexpr std::array names{"", "marked", "look", "problem"};
  return tone == Tone::plain ? "" : fmt::format(" class=\"{}\"", names.at(static_cast<std::size_t>(tone)));
}

std::string cell_html(const Column& column, const std::string& text) {
  // Sentences are there to be read, numbers and times are short.
  const std::string shown = column.kind == Kind::text ? shorten(text, kLongestName) : text;
  const std::string whole = shown == text ? std::string() : fmt::format(" title=\"{}\"", escape_html(text));
  // A name that is written from right to left must not turn what stands beside it.
  const bool words = column.kind == Kind::text || column.kind == Kind::sentence;
  const std::string escaped = escape_html(shown);
  return fmt::format("<td{}{}>{}</td>", cell_class(column), whole, words ? "<bdi>" + escaped + "</bdi>" : escaped);
}

std::string table_html(const Table& table, const Presentation& presentation) {
  const PeoplesTable seen = peoples_table(table, presentation);
  if (seen.rows.empty()) return {};
  std::string out = "<div class=\"scroll\"><table>\n<thead><tr>";
  for (const PeoplesTable::Head& head : seen.heads) {
    out += fmt::format("<th scope=\"col\"{}{}>{}</th>", cell_class(*head.column),
                       head.column->sorted ? " aria-sort=\"descending\"" : "", escape_html(head.header));
  }
  out += "</tr></thead>\n<tbody>\n";
  for (std::size_t i = 0; i < seen.rows.size(); ++i) {
    out += fmt::format("<tr{}>", tone_class(table.tones.empty() ? Tone::plain : table.tones[i]));
    for (std::size_t cell = 0; cell < seen.heads.size(); ++cell)
      out += cell_html(*seen.heads[cell].column, seen.rows[i][cell]);
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

std::string notes_html(const std::vector<std::string>& notes) {
  std::string out;
  for (const std::string& note : notes) {
    if (!note.empty()) out += "<p class=\"note\">" + escape_html(note) + "</p>\n";
  }
  return out;
}

std::string facts_html(const Report& report, const Presentation& presentation) {
  std::string out;
  for (const Field& fact : report.facts) {
    if (fact.label.empty()) continue;
    out += fmt::format("<div{}><dt>{}</dt><dd>{}</dd></div>\n", tone_class(fact.tone), escape_html(fact.label),
                       escape_html(fact_text(fact, presentation.units, presentation.zone)));
  }
  return out.empty() ? out : "<dl>\n" + out + "</dl>\n";
}

std::string legend_html(const Chart& chart) {
  std::string out;
  if (!chart.value_name.empty()) out += "<span class=\"key-line\"></span>" + escape_html(chart.value_name);
  if (!chart.usual_name.empty()) out += " <span class=\"key-usual\"></span>" + escape_html(chart.usual_name);
  if (!chart.limit_name.empty()) out += " <span class=\"key-limit\"></span>" + escape_html(chart.limit_name);
  return out.empty() ? out : "<p class=\"legend\">" + out + "</p>\n";
}

std::string chart_html(const Chart& chart, Units units) {
  std::string drawn;
  if (chart.small) {
    drawn = draw_svg(chart, {340, 130, "small", units});
  } else {
    const int height = 220;
    drawn = draw_svg(chart, {720, height, "wide", units}) + draw_svg(chart, {350, height - 20, "narrow", units});
  }
  if (drawn.empty()) return {};
  return fmt::format("<figure{}>\n<figcaption>{}</figcaption>\n{}{}</figure>\n", chart.small ? " class=\"small\"" : "",
                     escape_html(chart.title), legend_html(chart), drawn);
}

std::string charts_html(const Report& report, bool small, Units units) {
  std::string out;
  for (const Chart& chart : report.charts) {
    if (chart.small == small) out += chart_html(chart, units);
  }
  return small && !out.empty() ? "<div class=\"charts\">\n" + out + "</div>\n" : out;
}

}  // namespace

std::string render_html(const Asked& asked, const Report& report, const Presentation& presentation) {
  // "web1: memory by process": who has pages of many machines open finds each by its host.
  const std::string title = joined(to_printable(asked.host), ": ", report.title);
  const std::string when = time_asked(report, presentation.zone);
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n"
      "<main>\n",
      escape_html(title + (when.empty() ? "" : ", " + when)), kHtmlStyle);
  out += fmt::format("<h1{}>{}</h1>\n", tone_class(report.tone), escape_html(title));
  if (!when.empty()) out += "<p class=\"kicker\">" + escape_html(when) + "</p>\n";
  if (!report.lead.empty()) out += "<p class=\"lead\">" + escape_html(report.lead) + "</p>\n";
  for (const std::string& warning : report.warnings) {
    out += "<p class=\"warning\">" + escape_html("Warning: " + to_printable(warning)) + "</p>\n";
  }
  out += facts_html(report, presentation) + charts_html(report, false, presentation.units) +
         charts_html(report, true, presentation.units) + element("h2", report.rows_title) +
         table_html(report.rows, presentation);
  for (const Section& section : report.sections) {
    if (section.title.empty()) continue;
    const std::string text = table_html(section.table, presentation) + notes_html(section.notes);
    if (!text.empty()) out += "<section>\n" + element("h2", section.title) + text + "</section>\n";
  }
  out += "<footer>\n" + notes_html(report.notes);
  if (report.coverage && report.range) out += notes_html({coverage_line(*report.coverage, presentation.zone)});
  return out + "</footer>\n</main>\n</body>\n</html>\n";
}

}  // namespace memoir::query
