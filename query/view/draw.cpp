#include "query/view/draw.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <iterator>

#include "base/text.h"
#include "query/args/times.h"
#include "query/render/layout.h"
#include "query/report/format.h"
#include "query/view/cells_of.h"
#include "query/view/layout_of.h"
#include "query/view/lines.h"
#include "query/view/pages.h"
#include "query/view/prompt.h"

namespace memoir::query::view {
namespace {

// Joins texts, the most useful first; leaves out those that do not fit.
std::string as_many_as_fit(const std::vector<std::string>& texts, std::string_view between, std::size_t width) {
  std::string out;
  for (const std::string& text : texts) {
    const std::string longer = out.empty() ? text : fmt::format("{}{}{}", out, between, text);
    if (display_width(longer) > width) break;
    out = longer;
  }
  return out;
}

struct Edge {
  std::string text;
  Tone tone = Tone::marked;
};

// The age of a tick; from one minute on in whole minutes, so that the screen does not change each second.
std::string ago_text(std::int64_t ms) {
  constexpr std::int64_t minute = 60'000;
  return format_span(std::max<std::int64_t>(ms < minute ? ms : ms / minute * minute, 0)) + " ago";
}

// How the cursor relates to the recording.
Edge edge_of(const Model& model) {
  const RecordingInfo& recorded = model.recorded;
  if (place(model).page == Page::compare) return {"COMPARE"};
  if (!model.following) {
    const std::int64_t more = recorded.ticks - model.seen_ticks;
    return {more > 0 ? fmt::format("PAUSED +{}", more) : std::string("PAUSED"), Tone::warning};
  }
  const std::int64_t age_ms = recorded.now_ms - recorded.last_ms;
  switch (recorded.state) {
    case Recording::active:
      return {"LIVE"};
    case Recording::late:
      return {"LATE " + format_span(std::max<std::int64_t>(age_ms, 0)), Tone::warning};
    case Recording::stopped:
    case Recording::died:
      return {"ENDED " + ago_text(age_ms), Tone::warning};
    case Recording::never:
      break;
  }
  return {"NOTHING RECORDED", Tone::warning};
}

std::string weekday_name(std::int64_t ms, Zone zone) {
  constexpr std::array days{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  return days.at(static_cast<std::size_t>(weekday(to_civil(ms, zone))));
}

void draw_header(CellGrid& grid, const Model& model) {
  const RecordingInfo& recorded = model.recorded;
  const Zone zone = model.setup.zone;
  const bool narrow = grid.columns() < 72;
  const bool has_host = grid.columns() >= 56;
  std::vector<std::string> left;
  if (has_host || recorded.ticks == 0) left.push_back(showable(to_printable(recorded.host)));
  if (recorded.ticks > 0) {
    left.push_back(narrow ? format_time_of_day(model.at_ms, zone)
                          : fmt::format("{} {}", weekday_name(model.at_ms, zone), format_time(model.at_ms, zone)));
    const std::int64_t ago_ms = recorded.now_ms - model.at_ms;
    if (ago_ms >= 60'000 || !model.following) left.push_back(ago_text(ago_ms));
  }
  const Edge edge = edge_of(model);
  std::string right = narrow ? "  ? help" : fmt::format("   tick {}   ? help", format_span(recorded.interval_ms));
  right = edge.text + right;
  const std::size_t width = display_width(right);
  const std::size_t room = grid.columns() > width + 3 ? grid.columns() - width - 3 : 0;
  grid.put(0, 1, as_many_as_fit(left, "  ", room), {Tone::marked});
  grid.put_right(0, right);
  grid.paint(0, grid.columns() - std::min(width, grid.columns()), display_width(edge.text), {edge.tone});
}

// "1.4 of 23.5 GiB", "300.0 MiB of 23.5 GiB"
std::string size_of(std::int64_t part_kib, std::int64_t whole_kib, Units units) {
  std::string part = format_size(part_kib, units);
  const std::string whole = format_size(whole_kib, units);
  const std::string unit = whole.substr(std::min(whole.rfind(' '), whole.size()));
  if (part.ends_with(unit)) part.resize(part.size() - unit.size());
  return fmt::format("{} of {}", part, whole);
}

// Memory of the machine at the cursor, from the totals of `memoir top`.
std::string machine_text(const Model& model, std::size_t width) {
  const auto& report = answer_of(model, place(model).page == Page::processes ? Slot::page : Slot::machine).report;
  if (!report) return {};
  const auto total = field_of(report->totals, "machine_total_kib");
  const auto used = field_of(report->totals, "machine_used_kib");
  if (!total || !used) return "Memory of the machine: not recorded at this time";
  const Units units = model.setup.units;
  std::vector<std::string> texts{fmt::format("Used {}", size_of(*used, *total, units))};
  if (!model.bar_name.empty()) texts.insert(texts.begin(), "bar: " + showable(to_printable(model.bar_name)));
  for (const std::string& filter : place(model).filters) texts.push_back("filter " + showable(to_printable(filter)));
  if (const auto available = field_of(report->totals, "machine_available_kib"))
    texts.push_back(fmt::format("available {}", format_size(*available, units)));
  if (const auto swap = field_of(report->totals, "machine_swap_used_kib"))
    texts.push_back(*swap == 0 ? std::string("swap 0") : fmt::format("swap {}", format_size(*swap, units)));
  const auto some = number_of(report->totals, "machine_pressure_some_percent");
  const auto full = number_of(report->totals, "machine_pressure_full_percent");
  if (some && full) texts.push_back(fmt::format("PSI some {}, full {}", format_percent(*some), format_percent(*full)));
  if (model.mark_ms) texts.push_back(fmt::format("mark {}", format_time_of_day(*model.mark_ms, model.setup.zone)));
  const auto committed = field_of(report->totals, "machine_committed_kib");
  const auto limit = field_of(report->totals, "machine_commit_limit_kib");
  if (committed && limit) texts.push_back(fmt::format("committed {}", size_of(*committed, *limit, units)));
  return as_many_as_fit(texts, ", ", width);
}

std::string path_text(const Model& model) {
  std::string text;
  for (const Place& step : model.path) {
    if (!text.empty()) text += " > ";
    switch (step.page) {
      case Page::process:
        text += step.name;
        break;
      case Page::compare:
        text += fmt::format("compared with {}", format_time(compared_with(model), model.setup.zone));
        break;
      case Page::command:
        text += "memoir";
        for (const std::string& word : step.command) text += " " + word;
        break;
      default:
        text += tab_name(step.page);
        if (!step.filters.empty()) text += " " + step.filters.back();
        break;
    }
  }
  return showable(to_printable(text));
}

struct Tab {
  std::size_t column = 0;
  std::string text;
};

std::array<Tab, kTabs> tabs_of(const Model& model) {
  const std::size_t columns = std::max(model.screen.columns, kMinColumns);
  const bool narrow = columns < 72;
  std::array<Tab, kTabs> tabs;
  std::size_t column = 0;
  for (std::size_t i = 0; i < kTabs; ++i) {
    const auto page = static_cast<Page>(i);
    const bool shown = place(model).page == page;
    const bool named = shown || columns >= 44;
    const std::string name = !named ? "" : fmt::format(" {}", narrow ? short_tab_name(page) : tab_name(page));
    tabs.at(i) = {column, fmt::format("{}{}{}{}", shown ? '[' : ' ', i + 1, name, shown ? ']' : ' ')};
    column += display_width(tabs.at(i).text) + (narrow ? 0 : 1);
  }
  return tabs;
}

void draw_tabs(CellGrid& grid, const Model& model, std::size_t line) {
  if (model.path.size() > 1) {
    constexpr std::string_view back = "Esc back ";
    grid.put(line, 1, shorten(path_text(model), grid.columns() - back.size() - 2), {Tone::marked});
    grid.put_right(line, back);
    return;
  }
  for (const Tab& tab : tabs_of(model))
    grid.put(line, tab.column, tab.text, {tab.text.starts_with('[') ? Tone::marked : Tone::plain});
}

void draw_page(CellGrid& grid, const Model& model, const Layout& layout, bool dims) {
  // While following, the page is not dimmed at each tick.
  const bool pending = waits_for_page(model);
  const bool stale = dims && pending && !model.following;
  std::size_t at = layout.page_line;
  for (const Line& line : model.head) grid.put(at++, 1, line.text, {line.tone});
  if (const std::size_t lines = process_chart_lines(model); lines > 0) {
    draw_chart_lines(grid, model.setup, model.bar.process, {at, lines, 0});
    at += lines;
  }
  const bool rows = has_rows(model);
  const std::size_t selected = place(model).selected;
  const std::size_t top = place(model).top;
  const std::size_t end = std::min(model.lines.size(), top + page_height(model));
  if (model.recorded.ticks == 0) grid.put(at, 1, "Nothing is recorded yet. The first tick will be shown here.");
  if (model.lines.empty() && pending) grid.put(at, 1, "…", {Tone::plain, false, true});
  for (std::size_t i = top; i < end; ++i, ++at) {
    const Line& line = model.lines[i];
    const bool chosen = rows && line.row == selected;
    const Style style{line.tone, chosen, stale && !chosen};
    if (line.tone == Tone::warning || line.tone == Tone::problem) grid.put(at, 0, "!", style);
    grid.put(at, 1, line.text, style);
    if (!chosen) continue;
    grid.put(at, 0, ">", style);
    grid.paint(at, 0, page_columns(model), style);
    if (i == top || model.lines[i - 1].row != line.row) grid.set_cursor(at);
  }
}

// The event at the cursor; otherwise the most severe one in its column.
std::string event_text(const Model& model) {
  const TimeBar& bar = model.bar;
  const auto is_near = [&](const Letter& letter) {
    if (model.event_ms) return *model.event_ms == letter.at_ms;
    return bar.holds(letter.at_ms) && bar.holds(model.at_ms) &&
           bar.column_of(letter.at_ms) == bar.column_of(model.at_ms);
  };
  const Letter* shown = nullptr;
  for (const Letter& letter : bar.letters) {
    if (is_near(letter) && (shown == nullptr || is_kill(letter))) shown = &letter;
  }
  if (shown == nullptr) return {};
  return showable(to_printable(letter_text(*shown, model.setup.zone)));
}

std::string rows_text(const Model& model) {
  const std::size_t count = item_count(model);
  const std::size_t height = page_height(model);
  if (count == 0 || model.lines.size() <= height) return {};
  const Place& shown = place(model);
  if (!has_rows(model))
    return fmt::format("{}-{} of {} lines", shown.top + 1, std::min(shown.top + height, count), count);
  return fmt::format("{} of {}", shown.selected + 1, count);
}

// The first warning of the answer, otherwise its first note.
std::string note_text(const Model& model) {
  const auto& report = answer_of(model, Slot::page).report;
  if (!report || model.head.empty()) return {};
  if (!report->warnings.empty()) return showable(to_printable(report->warnings.front()));
  return report->notes.empty() ? std::string() : showable(to_printable(report->notes.front()));
}

void draw_status(CellGrid& grid, const Model& model, std::size_t line) {
  if (model.prompt.ask != Ask::none) {
    const std::size_t end = grid.put(line, 1, prompt_text(model), {Tone::marked});
    const std::string meaning = prompt_meaning(model);
    if (end + 2 < grid.columns()) {
      grid.paint(line, end, 1, {Tone::plain, true});
      const std::size_t room = grid.columns() - end - 3;
      grid.put_right(line, shorten(meaning, room),
                     {model.prompt.problem.empty() ? Tone::plain : Tone::warning, false, model.prompt.problem.empty()});
    }
    grid.set_cursor(line);
    return;
  }
  const std::string rows = model.message.empty() ? rows_text(model) : std::string();
  const std::size_t taken = rows.empty() ? 1 : display_width(rows) + 3;
  std::string text = !model.message.empty() ? showable(to_printable(model.message)) : event_text(model);
  Tone tone = model.message.empty() ? Tone::plain : Tone::marked;
  if (model.ended) tone = Tone::problem;
  if (text.empty()) text = note_text(model);
  grid.put(line, 1, shorten(text, grid.columns() - std::min(grid.columns() - 1, taken)), {tone});
  if (!rows.empty()) grid.put_right(line, rows + " ");
}

// The keys that matter on a page, besides those of time.
std::vector<std::string> hints_of(Page page) {
  switch (page) {
    case Page::processes:
      return {"E kill", "Enter open", "/ filter", "f group", "d compare", "s sort"};
    case Page::tree:
      return {"E kill", "Enter open", "/ filter", "d compare", "s sort"};
    case Page::cgroups:
      return {"Enter processes", "s sort", "B bar", "/ search"};
    case Page::memory:
      return {"Enter open", "B bar", "/ search"};
    case Page::events:
      return {"n/N event", "E kill", "Enter go there", "/ search"};
    case Page::compare:
      return {"m mark", "Enter open", "/ filter", "f group"};
    case Page::incident:
      return {"n/N event", "E kill", "/ search", "X save"};
    case Page::process:
    case Page::command:
      break;
  }
  return {"/ search", "X save"};
}

void draw_keys(CellGrid& grid, const Model& model, std::size_t line) {
  std::vector<std::string> hints;
  if (model.prompt.ask != Ask::none) {
    hints = {"Enter go", "Esc cancel", "^U empty"};
    if (model.prompt.ask == Ask::filter || model.prompt.ask == Ask::command) hints.emplace_back("Tab complete");
  } else if (model.menu) {
    hints = {"↑/↓ choose", "Enter take", "Esc cancel"};
  } else {
    hints = {"t/T tick", "←/→ column", "b jump"};
    if (model.path.size() > 1) hints.emplace_back("Esc back");
    std::ranges::copy(hints_of(place(model).page), std::back_inserter(hints));
    for (const char* const hint :
         {"n/N event", "d compare", "y command", "? help", "q quit", ": any command", "X save", "Space pause"}) {
      if (std::ranges::find(hints, hint) == hints.end()) hints.emplace_back(hint);
    }
  }
  if (model.setup.ascii) {
    for (std::string& hint : hints) {
      if (hint.starts_with("←")) hint = "h/l column";
      if (hint.starts_with("↑")) hint = "j/k choose";
    }
  }
  grid.put(line, 0, as_many_as_fit(hints, "  ", grid.columns()), {Tone::plain, false, true});
}

}  // namespace

std::optional<std::size_t> tab_at(const Model& model, std::size_t column) {
  const std::array<Tab, kTabs> tabs = tabs_of(model);
  for (std::size_t i = 0; i < kTabs; ++i) {
    if (column >= tabs.at(i).column && column < tabs.at(i).column + tabs.at(i).text.size()) return i;
  }
  return std::nullopt;
}

CellGrid draw(const Model& model, bool dims) {
  CellGrid grid({std::max(model.screen.columns, kMinColumns), std::max(model.screen.lines, kMinLines)});
  const Layout layout = layout_of(model.screen);
  draw_header(grid, model);
  draw_bar(grid, model);
  grid.put(layout.machine_line, 1, machine_text(model, grid.columns() - 2));
  draw_tabs(grid, model, layout.tabs_line);
  draw_page(grid, model, layout, dims);
  if (has_side(model)) draw_side(grid, model, layout);
  draw_overlays(grid, model, layout);
  draw_status(grid, model, layout.status_line);
  draw_keys(grid, model, layout.keys_line);
  if (model.setup.ascii) {
    grid.replace("…", "~");
    grid.replace("–", "-");
  }
  return grid;
}

}  // namespace memoir::query::view
