#include "query/view/process_lines.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/text.h"
#include "model/metric.h"
#include "query/args/times.h"
#include "query/render/table_text.h"
#include "query/report/columns.h"
#include "query/report/format.h"
#include "query/view/cells_of.h"
#include "query/view/lines.h"
#include "query/view/pages.h"

namespace memoir::query::view {
namespace {

constexpr std::size_t kShownMappings = 5;
constexpr std::size_t kShownEvents = 5;

// Returns the last part of a cgroup's path.
std::string_view last_part(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

// Returns the time as text, without the date if the cursor is on the same day.
std::string time_near(const Model& model, std::int64_t ms) {
  const Zone zone = model.setup.zone;
  const bool same_day = format_date(ms, zone) == format_date(model.at_ms, zone);
  return same_day ? format_time_of_day(ms, zone) : format_time(ms, zone);
}

void add(std::vector<Line>& lines, const std::string& text, std::size_t width, Tone tone = Tone::plain) {
  const std::string wrapped = wrap(showable(to_printable(text)), width, 2);
  for (std::string_view rest = wrapped; !rest.empty();) lines.push_back({std::string(cut_line(rest)), tone});
}

// "python3 (32702), user shop, in shop.service"
std::string name_line(const Report& process) {
  const auto& facts = process.facts;
  std::string text = fmt::format("{} ({})", text_of(facts, "comm"), field_of(facts, "pid").value_or(0));
  if (const std::string user = text_of(facts, "user"); !user.empty()) text += ", user " + user;
  for (const char* const place : {"container", "unit", "cgroup"}) {
    const std::string path = text_of(facts, place);
    if (const std::string_view last = last_part(path); !last.empty()) return fmt::format("{}, in {}", text, last);
  }
  return text;
}

// "started 02:05:08, parent python3 (32655), category python"
std::string start_line(const Model& model, const Report& process) {
  const auto& facts = process.facts;
  std::string text;
  if (const auto start_ms = field_of(facts, "start_ms"))
    text = fmt::format("started {}, ", time_near(model, *start_ms));
  if (const std::string parent = text_of(facts, "parent"); !parent.empty()) text += fmt::format("parent {}, ", parent);
  const std::string exit = text_of(facts, "exit");
  return text + (exit.empty() ? "category " + text_of(facts, "category") : exit);
}

// RSS, PSS and peak, from where the PSS is, and when the peak was reached.
std::string memory_line(const Model& model, const Report& process) {
  std::string text = process.lead;
  if (const std::string source = text_of(process.facts, "source"); !source.empty()) text += " PSS is " + source + ".";
  const auto marks = std::ranges::find(process.sections, "marks", &Section::name);
  if (marks == process.sections.end()) return text;
  const Cells cells(marks->table);
  for (std::size_t row = 0; row < marks->table.rows.size(); ++row) {
    const auto at_ms = cells.integer(row, "at_ms");
    if (cells.text(row, "metric") == metric_title(Metric::hwm) && at_ms)
      text += " Peak at " + time_near(model, *at_ms) + ".";
  }
  return text;
}

// "Mappings 270.1 MiB heap, 8.8 MiB (anonymous)"
std::string mappings_line(const Report& process, Units units) {
  const auto found = std::ranges::find(process.sections, "mappings", &Section::name);
  if (found == process.sections.end() || found->table.rows.empty()) return {};
  const Cells cells(found->table);
  std::string text;
  for (std::size_t row = 0; row < std::min(found->table.rows.size(), kShownMappings); ++row) {
    const std::string label = cells.text(row, "label");
    const std::string kind = cells.text(row, "kind");
    text += fmt::format("{}{} {}", text.empty() ? "Mappings " : ", ",
                        format_size(cells.integer(row, "pss_kib").value_or(0), units),
                        label.empty() ? "other " + kind : std::string(last_part(label)));
  }
  return keep_units(text);
}

// The lives of the program in the bar's span, this one marked.
void add_lives(const Model& model, std::size_t width, std::vector<Line>& lines) {
  const auto& report = answer_of(model, Slot::lives).report;
  if (!report || report->rows.rows.empty()) return;
  constexpr std::size_t wide = 90;
  Table table = report->rows;
  std::vector<std::string> names{"started", "ended", "how", "hwm"};
  if (width >= wide) names.insert(names.begin() + 2, "lifetime");
  if (!choose_columns(names, false, table)) return;
  lines.push_back({"THE SAME PROGRAM", Tone::marked});
  TextTable text = text_table(table, presentation_of(model, width));
  fit(text, width);
  const std::vector<std::string> printed = table_lines(std::move(text), model.setup.ascii);
  for (std::size_t at = 0; at < printed.size(); ++at) {
    const bool is_this = at > 0 && row_key(*report, at - 1) == model.subject;
    lines.push_back({printed[at], is_this ? Tone::marked : Tone::plain});
  }
}

// Adds the events of the time bar that name the process.
void add_events(const Model& model, std::size_t width, std::vector<Line>& lines) {
  const std::string pid = fmt::format("({})", model.subject.substr(0, model.subject.find('@')));
  std::vector<const Letter*> events;
  for (const Letter& letter : model.bar.letters) {
    if (letter.text.find(pid) != std::string::npos) events.push_back(&letter);
  }
  if (events.empty()) return;
  lines.push_back({"EVENTS", Tone::marked});
  if (events.size() > kShownEvents) events.erase(events.begin(), events.end() - kShownEvents);
  for (const Letter* const event : events)
    add(lines, letter_text(*event, model.setup.zone), width, is_kill(*event) ? Tone::problem : Tone::plain);
}

}  // namespace

std::vector<Line> process_head(const Model& model, std::size_t width) {
  std::vector<Line> lines;
  const auto& process = process_answer(model).report;
  if (!process) return lines;
  add(lines, name_line(*process), width, Tone::marked);
  lines.push_back({shorten(showable(to_printable(text_of(process->facts, "command"))), width)});
  add(lines, start_line(model, *process), width);
  add(lines, keep_units(memory_line(model, *process)), width);
  return lines;
}

std::vector<Line> process_details(const Model& model, std::size_t width) {
  std::vector<Line> lines;
  const auto& process = process_answer(model).report;
  if (!process) return lines;
  add(lines, mappings_line(*process, model.setup.units), width);
  add_lives(model, width, lines);
  add_events(model, width, lines);
  return lines;
}

}  // namespace memoir::query::view
