// Renders one self-contained page, which may be mailed, printed, read on a phone, or read years later. It has no
// scripts and makes no external requests. Mail clients drop unknown parts (Gmail drops SVG), so every number of a chart
// is in a table too.

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

// Columns with this drop order or a higher one are hidden on a page as narrow as a phone.
constexpr int kLessUseful = 3;
// Longer names are clipped, and shown in full when the mouse is over them.
constexpr std::size_t kLongestName = 120;

std::string element(const char* tag, const std::string& text) {
  return text.empty() ? std::string() : fmt::format("<{}>{}</{}>\n", tag, escape_html(text), tag);
}

std::string cell_class(const Column& column) {
  std::string name = is_right(column.kind) ? "n" : column.kind == Kind::time ? "t" : "";
  const char* more = column.sorted ? "sorted" : column.drop_order >= kLessUseful ? "less" : "";
  if (*more != '\0') name += name.empty() ? more : fmt::format(" {}", more);
  return name.empty() ? name : fmt::format(" class=\"{}\"", name);
}

// Returns " class="problem""; empty for a plain tone.
std::string tone_class(Tone tone) {
  constexpr std::array names{"", "marked", "look", "problem"};
  return tone == Tone::plain ? "" : fmt::format(" class=\"{}\"", names.at(static_cast<std::size_t>(tone)));
}

std::string cell_html(const Column& column, const std::string& text) {
  // Only names are truncated: a sentence is shown in full, and numbers and times are short.
  const std::string shown = column.kind == Kind::text ? shorten(text, kLongestName) : text;
  const std::string whole = shown == text ? std::string() : fmt::format(" title=\"{}\"", escape_html(text));
  // A right-to-left name must not affect adjacent text.
  const bool words = column.kind == Kind::text || column.kind == Kind::sentence;
  const std::string escaped = escape_html(shown);
  return fmt::format("<td{}{}>{}</td>", cell_class(column), whole, words ? "<bdi>" + escaped + "</bdi>" : escaped);
}

std::string table_html(const Table& table, const Presentation& presentation) {
  const DisplayTable seen = display_table(table, presentation);
  if (seen.rows.empty()) return {};
  std::string out = "<div class=\"scroll\"><table>\n<thead><tr>";
  for (const DisplayTable::Head& head : seen.heads) {
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

std::string prose(std::string_view text) {
  return escape_html(keep_units(text));
}

std::string notes_html(const std::vector<std::string>& notes) {
  std::string out;
  for (const std::string& note : notes) {
    const LabelledLine line = split_label(note);
    if (!line.label.empty()) {
      out += fmt::format("<p class=\"note key\"><span>{}</span> {}</p>\n", escape_html(line.label), prose(line.text));
    } else if (!note.empty()) {
      out += "<p class=\"note\">" + prose(note) + "</p>\n";
    }
  }
  return out;
}

// Shows values as tiles, and sentences as lines above the tiles.
std::string facts_html(const Report& report, const Presentation& presentation) {
  std::string tiles;
  std::string lines;
  for (const Field& fact : report.facts) {
    if (fact.label.empty()) continue;
    const std::string text = fact_text(fact, presentation.units, presentation.zone);
    if (fact.kind == Kind::sentence) {
      lines += fmt::format("<p class=\"note key\"><span>{}</span> {}</p>\n", escape_html(fact.label), prose(text));
    } else {
      tiles += fmt::format("<div{}><dt>{}</dt><dd>{}</dd></div>\n", tone_class(fact.tone), escape_html(fact.label),
                           escape_html(text));
    }
  }
  if (!lines.empty()) lines = "<section>\n" + lines + "</section>\n";
  return lines + (tiles.empty() ? tiles : "<dl>\n" + tiles + "</dl>\n");
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

std::string section_html(const Section& section, const Presentation& presentation) {
  const std::string text = table_html(section.table, presentation) + notes_html(section.notes);
  return section.title.empty() || text.empty()
             ? std::string()
             : fmt::format("<section{}>\n", section.printed ? "" : " class=\"screen\"") + element("h2", section.title) +
                   text + "</section>\n";
}

// Returns the drawn lines, unless charts show the same.
std::string drawing_html(const Report& report) {
  std::string out;
  if (!report.charts.empty()) return out;
  for (const std::string& line : report.drawing) out += escape_html(line) + '\n';
  return out.find_first_not_of('\n') == std::string::npos ? std::string() : "<pre>" + out + "</pre>\n";
}

}  // namespace

std::string render_html(const ReportContext& asked, const Report& report, const Presentation& presentation) {
  // "web1: memory by process": with pages of many machines open, the host identifies each.
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
  if (report.first) out += section_html(*report.first, presentation);
  if (!report.lead.empty()) out += "<p class=\"lead\">" + prose(report.lead) + "</p>\n";
  for (const std::string& warning : report.warnings) {
    out += "<p class=\"warning\">" + prose("Warning: " + to_printable(warning)) + "</p>\n";
  }
  out += facts_html(report, presentation) + drawing_html(report) + charts_html(report, false, presentation.units) +
         charts_html(report, true, presentation.units) + element("h2", report.rows_title) +
         table_html(report.rows, presentation);
  for (const Section& section : report.sections) out += section_html(section, presentation);
  out += "<footer>\n" + notes_html(report.notes);
  if (report.coverage && report.range) out += notes_html({coverage_line(*report.coverage, presentation.zone)});
  return out + "</footer>\n</main>\n</body>\n</html>\n";
}

}  // namespace memoir::query
