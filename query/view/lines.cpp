#include "query/view/lines.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/text.h"
#include "query/render/render.h"
#include "query/render/table_text.h"
#include "query/report/columns.h"
#include "query/view/cells_of.h"
#include "query/view/layout_of.h"
#include "query/view/pages.h"
#include "query/view/process_lines.h"

namespace memoir::query::view {
Presentation presentation_of(const Model& model, std::size_t width) {
  return {model.setup.zone, model.setup.units, false, width, model.setup.ascii};
}

namespace {

// Minimum number of scrolling lines on a process's page. On a screen without space for the head, the chart and these
// lines, the head scrolls too.
constexpr std::size_t kMinScrolled = 3;

bool is_table(Page page) {
  return page != Page::incident && page != Page::process && page != Page::command;
}

// The first line of a row has text in its first cell; continuation lines have none.
void add_table(Model& model, const Report& report, std::size_t width) {
  Table chosen;
  if (const std::vector<std::string>& columns = place(model).columns; !columns.empty()) {
    chosen = report.rows;
    if (const Status status = choose_columns(columns, false, chosen); !status) {
      model.message = status.error().message;
      chosen = {};
    }
  }
  TextTable text = text_table(chosen.columns.empty() ? report.rows : chosen, presentation_of(model, width));
  fit(text, width);
  const std::vector<Tone> tones = text.tones;
  std::vector<bool> continues;
  const bool breaks = !text.columns.empty() && text.columns.back().breaks;
  for (const auto& row : text.rows) continues.push_back(breaks && row.size() > 1 && row.front().empty());
  const std::vector<std::string> lines = table_lines(std::move(text), model.setup.ascii);
  model.head.push_back({lines.front(), Tone::marked});
  std::size_t row = 0;
  for (std::size_t at = 1; at < lines.size(); ++at) {
    if (at > 1 && !continues[at - 1]) ++row;
    model.lines.push_back({lines[at], tones.empty() ? Tone::plain : tones[at - 1], row});
  }
}

void add_text(Model& model, std::string_view text, Tone tone) {
  while (!text.empty()) model.lines.push_back({std::string(cut_line(text)), tone});
}

void add_report(Model& model, const Words& words, const Report& report, std::size_t width) {
  const std::string command = words.empty() ? std::string() : words.front();
  const std::size_t first = model.lines.size();
  add_text(model, render_table({command, "", ""}, report, presentation_of(model, width)), Tone::plain);
  if (model.lines.size() > first) model.lines[first].tone = Tone::marked;
}

// Below the rows.
void add_sections(Model& model, const Report& report, std::size_t width) {
  Report rest;
  rest.sections = report.sections;
  const std::string text = render_table({}, rest, presentation_of(model, width));
  add_text(model, text, Tone::plain);
}

// Adds the head above the chart if there is space for it, otherwise below it; then the details and the rest of the
// answer.
void add_process(Model& model, const Answer& answer, std::size_t width) {
  model.head = process_head(model, width);
  if (model.head.size() + kMinScrolled + process_chart_lines(model) > layout_of(model.screen).page_lines)
    model.lines = std::exchange(model.head, {});
  std::ranges::move(process_details(model, width), std::back_inserter(model.lines));
  Report rest = *answer.report;
  rest.lead.clear();
  add_report(model, answer.words, rest, width);
}

}  // namespace

bool has_rows(const Model& model) {
  return std::ranges::any_of(model.lines, [](const Line& line) { return line.row.has_value(); });
}

void make_lines(Model& model) {
  model.head.clear();
  model.lines.clear();
  const Answer& answer = answer_of(model, Slot::page);
  const std::size_t width = page_columns(model) - 1;
  if (!answer.error.empty()) {
    std::string_view rest = answer.error;
    while (!rest.empty()) {
      const std::string line = showable(to_printable(cut_line(rest)));
      add_text(model, wrap(line, width, 2), Tone::warning);
    }
    return;
  }
  if (!answer.report) return;
  if (place(model).page == Page::process) return add_process(model, answer, width);
  if (!is_table(place(model).page)) return add_report(model, answer.words, *answer.report, width);
  const Report& report = *answer.report;
  if (!report.rows.rows.empty()) {
    add_table(model, report, width);
    if (place(model).page == Page::memory) add_sections(model, report, width);
    return;
  }
  for (const std::string& warning : report.warnings)
    add_text(model, wrap(showable(to_printable(warning)), width, 2), Tone::plain);
  for (const std::string& note : report.notes)
    add_text(model, wrap(showable(to_printable(note)), width, 2), Tone::plain);
  if (model.lines.empty()) add_text(model, "no rows", Tone::plain);
}

namespace {

// Returns as much of a text as fits into `width`; the complete text if not even one character fits.
std::string first_columns(const std::string& text, std::size_t width) {
  constexpr std::string_view cut = "…";
  if (display_width(text) <= width) return text;
  const std::string part = shorten(text, width + 1);
  return part.size() > cut.size() ? part.substr(0, part.size() - cut.size()) : text;
}

}  // namespace

std::vector<std::string> whole_row(const Model& model, std::size_t width) {
  const auto& report = answer_of(model, Slot::page).report;
  const std::size_t row = place(model).selected;
  if (!report || row >= report->rows.rows.size()) return {};
  Table one;
  one.columns = report->rows.columns;
  one.rows = {report->rows.rows[row]};
  const TextTable text = text_table(one, presentation_of(model, width));
  std::size_t names = 0;
  for (const TextColumn& column : text.columns) names = std::max(names, display_width(column.header));
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.columns.size(); ++at) {
    const std::string& name = text.columns[at].header;
    std::string value = text.rows.front()[at];
    std::string label = name + std::string(names - display_width(name) + 2, ' ');
    do {
      const std::string part = first_columns(value, width > names + 2 ? width - names - 2 : 1);
      lines.push_back(label + part);
      value.erase(0, part.size());
      label.assign(names + 2, ' ');
    } while (!value.empty());
  }
  return lines;
}

std::size_t item_count(const Model& model) {
  const auto last =
      std::find_if(model.lines.rbegin(), model.lines.rend(), [](const Line& line) { return line.row.has_value(); });
  return last == model.lines.rend() ? model.lines.size() : *last->row + 1;
}

std::size_t process_chart_lines(const Model& model) {
  constexpr std::size_t usual = 3;
  constexpr std::size_t min_page = 10;
  const bool has_chart = place(model).page == Page::process && model.bar.count > 0;
  return has_chart && layout_of(model.screen).page_lines >= min_page ? usual : 0;
}

std::size_t page_height(const Model& model) {
  const std::size_t lines = layout_of(model.screen).page_lines;
  return lines - std::min(lines, model.head.size() + process_chart_lines(model));
}

namespace {

// Returns the row of the last event up to the cursor.
std::size_t event_row(const Model& model, const Report& report) {
  const Cells cells(report.rows);
  std::size_t found = 0;
  for (std::size_t row = 0; row < report.rows.rows.size(); ++row) {
    if (cells.integer(row, "at_ms").value_or(0) <= model.event_ms.value_or(model.at_ms)) found = row;
  }
  return found;
}

// Returns the line of the selected row. Without rows, returns the first shown line, at most the number of lines.
std::size_t selected_line(const Model& model) {
  const std::size_t selected = place(model).selected;
  if (!has_rows(model)) return std::min(selected, model.lines.size());
  const auto found = std::ranges::find_if(model.lines, [selected](const Line& line) { return line.row == selected; });
  return static_cast<std::size_t>(found - model.lines.begin());
}

}  // namespace

void select_row(Model& model) {
  Place& shown = place(model);
  const auto& report = answer_of(model, Slot::page).report;
  if (!report || !has_rows(model)) return;
  if (shown.pid) {
    if (const auto row = find_pid(*report, *shown.pid)) {
      shown.selected = *row;
      shown.key = row_key(*report, *row);
    }
    shown.pid.reset();
  }
  if (shown.page == Page::events && shown.key.empty()) {
    shown.selected = event_row(model, *report);
    shown.key = row_key(*report, shown.selected);
  }
  if (const auto row = find_row(*report, shown.key)) {
    shown.selected = *row;
  } else if (!shown.key.empty()) {
    model.message = "the selected row is not there at this time";
    shown.key.clear();
  }
}

void select(Model& model, std::size_t item) {
  Place& shown = place(model);
  shown.selected = item;
  const auto& report = answer_of(model, Slot::page).report;
  shown.key = report && has_rows(model) ? row_key(*report, item) : std::string();
}

void move_rows(Model& model, std::int64_t rows) {
  const auto count = static_cast<std::int64_t>(item_count(model));
  if (count == 0) return;
  const auto selected = static_cast<std::int64_t>(place(model).selected);
  const std::int64_t to = std::clamp<std::int64_t>(selected + rows, 0, count - 1);
  select(model, static_cast<std::size_t>(to));
}

namespace {

// Returns how far an action moves the selection; nullopt for other actions.
std::optional<std::int64_t> rows_moved(const Model& model, Action action) {
  const auto page = static_cast<std::int64_t>(std::max<std::size_t>(page_height(model), 2)) - 1;
  const auto all = static_cast<std::int64_t>(item_count(model));
  switch (action) {
    case Action::up:
      return -1;
    case Action::down:
      return 1;
    case Action::page_up:
      return -page;
    case Action::page_down:
      return page;
    case Action::half_up:
      return -(page + 1) / 2;
    case Action::half_down:
      return (page + 1) / 2;
    case Action::first:
      return -all;
    case Action::last:
      return all;
    default:
      return std::nullopt;
  }
}

}  // namespace

bool move_in_rows(Model& model, Action action) {
  const auto rows = rows_moved(model, action);
  if (rows) move_rows(model, *rows);
  return rows.has_value();
}

void keep_visible(Model& model) {
  if (model.lines.empty()) return;  // no answer yet
  Place& shown = place(model);
  const std::size_t count = item_count(model);
  const std::size_t height = std::max<std::size_t>(page_height(model), 1);
  const std::size_t last_top = model.lines.size() > height ? model.lines.size() - height : 0;
  if (!has_rows(model)) {
    shown.selected = std::min(shown.selected, last_top);
    shown.top = shown.selected;
    return;
  }
  shown.selected = std::min(shown.selected, count - 1);
  const std::size_t line = selected_line(model);
  std::size_t end = line;
  // The last row comes with what is below the rows.
  while (end + 1 < model.lines.size() &&
         (model.lines[end + 1].row == model.lines[line].row || !model.lines[end + 1].row))
    ++end;
  if (end >= shown.top + height) shown.top = end + 1 - height;
  if (line < shown.top) shown.top = line;
  shown.top = std::min(shown.top, last_top);
}

}  // namespace memoir::query::view
