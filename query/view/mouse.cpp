#include "query/view/mouse.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/text.h"
#include "query/render/layout.h"
#include "query/view/draw.h"
#include "query/view/lines.h"
#include "query/view/moves.h"
#include "query/view/pages.h"

namespace memoir::query::view {
namespace {

constexpr std::int64_t kWheelRows = 3;

struct Event {
  std::string_view name;
  std::size_t column = 0;
  std::size_t line = 0;
};

std::optional<Event> event_of(std::string_view key) {
  const std::size_t at = key.find('@');
  const std::size_t comma = key.find(',');
  if (at == std::string_view::npos || at == 0 || comma == std::string_view::npos || comma < at) return std::nullopt;
  const auto column = parse_number<std::size_t>(key.substr(at + 1, comma - at - 1));
  const auto line = parse_number<std::size_t>(key.substr(comma + 1));
  if (!column || !line) return std::nullopt;
  return Event{key.substr(0, at), *column, *line};
}

// Returns the column of the time bar under the mouse; nullopt outside it.
std::optional<std::size_t> bar_column(const Model& model, const Event& event) {
  const bool inside = event.line > 0 && event.line < layout_of(model.screen).machine_line &&
                      event.column >= kBarLabel && event.column < kBarLabel + model.bar.count;
  return inside ? std::optional(event.column - kBarLabel) : std::nullopt;
}

// Returns the --by word of the column heading at `column`: "PSS MiB" is pss. Empty if there is none.
std::string rank_at(const Model& model, std::size_t column) {
  const Command* const command = command_of(model);
  if (command == nullptr || model.head.empty() || column == 0) return {};
  std::string_view rest = model.head.front().text;
  std::string last;
  std::size_t end = 0;
  while (!rest.empty() && end < column) {
    const std::size_t blanks = std::min(rest.find_first_not_of(' '), rest.size());
    const std::string_view word = rest.substr(blanks, rest.find(' ', blanks) - blanks);
    end += blanks + display_width(word);
    rest.remove_prefix(blanks + word.size());
    const std::string name = to_lower(word);
    if (std::ranges::find(command->by, name) != command->by.end()) {
      last = name;
    } else if (name != "mib" && name != "kib" && name != "gib" && name != "▼") {
      last.clear();
    }
  }
  return last;
}

// Selects the clicked row, or sorts by the clicked heading. Returns Enter if the row was selected already.
std::string choose_line(Model& model, const Event& event) {
  if (event.column >= page_columns(model)) return {};
  const std::size_t at = event.line - layout_of(model.screen).page_line;
  if (at < model.head.size()) {
    const std::string rank = rank_at(model, event.column);
    if (!rank.empty()) place(model).by = rank;
    return {};
  }
  const std::size_t above = model.head.size() + process_chart_lines(model);
  if (at < above) return {};
  const std::size_t line = place(model).top + at - above;
  if (line >= model.lines.size() || !model.lines[line].row) return {};
  if (place(model).selected == *model.lines[line].row) return "Enter";
  select(model, *model.lines[line].row);
  return {};
}

void release(Step& step, const Event& event) {
  Model& model = step.model;
  const auto from = std::exchange(model.pressed, std::nullopt);
  const auto to = bar_column(model, event);
  if (!from || !to) return;
  if (*from == *to) return go_to_column(step, *to);
  show_columns(step, std::min(*from, *to), std::max(*from, *to));
}

}  // namespace

std::string mouse_key(std::string_view event, std::size_t column, std::size_t line) {
  return fmt::format("{}@{},{}", event, column, line);
}

std::string point(Step& step, const std::string& key) {
  const auto event = event_of(key);
  if (!event) return key;
  Model& model = step.model;
  const Layout layout = layout_of(model.screen);
  const auto column = bar_column(model, *event);
  if (event->name == "WheelUp" || event->name == "WheelDown") {
    const bool up = event->name == "WheelUp";
    if (column) return up ? "+" : "-";
    move_rows(model, up ? -kWheelRows : kWheelRows);
    return {};
  }
  if (event->name == "Release") {
    release(step, *event);
    return {};
  }
  if (event->name != "Press") return {};
  model.pressed = column;
  if (event->line == layout.tabs_line) {
    if (model.path.size() > 1) return "Esc";
    const auto tab = tab_at(model, event->column);
    return tab ? fmt::format("{}", *tab + 1) : std::string();
  }
  return event->line > layout.tabs_line && event->line < layout.status_line ? choose_line(model, *event)
                                                                            : std::string();
}

}  // namespace memoir::query::view
