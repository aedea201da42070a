#include "query/view/moves.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/text.h"
#include "query/args/times.h"
#include "query/view/layout_of.h"

namespace memoir::query::view {
namespace {

constexpr std::int64_t kFirstWidth = 60'000;

std::int64_t min_width(const Model& model) {
  return bar_width(std::max<std::int64_t>(model.recorded.interval_ms, 1000));
}

void send_seek(Step& step, std::int64_t at_ms, int steps, std::optional<std::int64_t> after_ms) {
  Model& model = step.model;
  model.seeking = true;
  model.seek = ++model.ids;
  model.steps = 0;
  step.requests.emplace_back(Seek{model.seek, at_ms, steps, after_ms, model.setup.tier});
}

// Returns the most interesting time in a column: just before a kill, otherwise that of the maximum, otherwise the end.
std::int64_t time_in_column(const Model& model, std::size_t column) {
  const TimeBar& bar = model.bar;
  const std::int64_t begin_ms = bar.begin_of(column);
  const std::int64_t end_ms = begin_ms + bar.width_ms - 1;
  for (const Letter& letter : bar.letters) {
    if (is_kill(letter) && letter.at_ms > begin_ms && letter.at_ms <= end_ms) return letter.at_ms - 1;
  }
  const auto max_at = column < bar.columns.size() ? bar.columns[column].max_at_ms : std::nullopt;
  return max_at && *max_at >= begin_ms && *max_at <= end_ms ? *max_at : end_ms;
}

bool is_gap(const TimeBar& bar, std::size_t column) {
  return column < bar.columns.size() && !bar.columns[column].mean;
}

// Returns the pid of the first process in a text such as "python3 (32702)".
std::optional<std::int64_t> pid_in(std::string_view text) {
  for (std::size_t open = text.find('('); open != std::string_view::npos; open = text.find('(', open + 1)) {
    const std::string_view rest = text.substr(open + 1);
    if (const auto pid = parse_number<std::int64_t>(rest.substr(0, std::min(rest.find(')'), rest.size())))) return pid;
  }
  return std::nullopt;
}

void zoom(Model& model, int direction) {
  const auto width = direction == 0 ? std::optional(std::max(kFirstWidth, min_width(model)))
                                    : next_width(model.bar.width_ms, direction, min_width(model));
  if (!width) {
    model.message = direction < 0 ? "a column is already as narrow as a tick" : "a column is already a day wide";
    return;
  }
  model.bar.width_ms = *width;
  fit_bar(model);
}

void move_columns(Step& step, std::int64_t columns) {
  Model& model = step.model;
  const TimeBar& bar = model.bar;
  const std::int64_t direction = columns < 0 ? -1 : 1;
  std::int64_t column = (column_start(model.at_ms, bar.width_ms, model.setup.zone) - bar.from_ms) / bar.width_ms;
  column += columns;
  const auto count = static_cast<std::int64_t>(bar.count);
  while (column > 0 && column < count && is_gap(bar, static_cast<std::size_t>(column)) &&
         bar.begin_of(static_cast<std::size_t>(column)) < model.recorded.last_ms)
    column += direction;
  const bool inside = column >= 0 && column < count;
  const std::int64_t to_ms = inside ? time_in_column(model, static_cast<std::size_t>(column))
                                    : bar.from_ms + column * bar.width_ms + bar.width_ms - 1;
  if (to_ms >= model.recorded.last_ms && direction > 0 && model.following) return;
  seek(step, to_ms, 0, direction > 0 ? std::optional(model.at_ms) : std::nullopt);
}

// Returns how far an action moves the cursor, in columns of the bar; nullopt for other actions.
std::optional<std::int64_t> columns_moved(Action action, std::int64_t bar_columns) {
  switch (action) {
    case Action::next_column:
      return 1;
    case Action::previous_column:
      return -1;
    case Action::next_ten:
      return 10;
    case Action::previous_ten:
      return -10;
    case Action::next_bar:
      return bar_columns;
    case Action::previous_bar:
      return -bar_columns;
    default:
      return std::nullopt;
  }
}

std::optional<EventSearch> search_of(Action action) {
  switch (action) {
    case Action::next_event:
      return EventSearch{1, false};
    case Action::previous_event:
      return EventSearch{-1, false};
    case Action::next_kill:
      return EventSearch{1, true};
    case Action::previous_kill:
      return EventSearch{-1, true};
    default:
      return std::nullopt;
  }
}

}  // namespace

void stop_following(Model& model) {
  if (!model.following) return;
  model.following = false;
  model.seen_ticks = model.recorded.ticks;
}

void seek(Step& step, std::int64_t at_ms, int steps, std::optional<std::int64_t> after_ms) {
  Model& model = step.model;
  stop_following(model);
  model.event_ms.reset();
  // Steps start from the tick that the running seek finds, so they are carried out after it.
  if (model.seeking && steps != 0) {
    model.steps += steps;
    return;
  }
  const std::int64_t within_ms = std::clamp(at_ms, model.recorded.first_ms, model.recorded.last_ms);
  send_seek(step, steps == 0 ? within_ms : at_ms, steps, after_ms);
  if (steps != 0) return;
  // The cursor moves at once, so that further moves start there.
  model.at_ms = within_ms;
  show_time(model.bar, model.at_ms, model.recorded.last_ms, model.setup.zone);
}

void go_to_column(Step& step, std::size_t column) {
  seek(step, time_in_column(step.model, column), 0);
}

void show_columns(Step& step, std::size_t first, std::size_t last) {
  Model& model = step.model;
  TimeBar& bar = model.bar;
  const std::int64_t from_ms = bar.begin_of(first);
  const std::int64_t span_ms = bar.begin_of(last + 1) - from_ms;
  seek(step, from_ms + span_ms / 2, 0);
  bar.width_ms = std::max(bar_width(span_ms / static_cast<std::int64_t>(std::max<std::size_t>(bar.count, 1)) + 1),
                          min_width(model));
  fit_bar(model);
}

void follow(Step& step) {
  Model& model = step.model;
  model.following = true;
  model.event_ms.reset();
  model.seeking = false;
  model.steps = 0;
  model.at_ms = model.recorded.last_ms;
  show_time(model.bar, model.at_ms, model.recorded.last_ms, model.setup.zone);
}

void fit_bar(Model& model) {
  TimeBar& bar = model.bar;
  bar.count = bar_columns(model.screen);
  bar.width_ms = std::max(bar.width_ms, min_width(model));
  center_on(bar, model.at_ms, model.recorded.last_ms, model.setup.zone);
}

void finish_event_search(Step& step) {
  Model& model = step.model;
  const Answer& answer = model.answers[static_cast<std::size_t>(Slot::events)];
  const EventSearch search = *model.event_search;
  model.event_search.reset();
  model.asked[static_cast<std::size_t>(Slot::events)] = {};
  if (!answer.report) {
    model.message = answer.error;
    return;
  }
  std::vector<Letter> letters = letters_of(*answer.report);
  if (search.kills) letters = kills_of(letters, model.recorded.interval_ms);
  const std::int64_t here_ms = model.event_ms.value_or(model.at_ms);
  const Letter* found = nullptr;
  for (const Letter& letter : letters) {
    if (search.direction > 0 && letter.at_ms > here_ms && found == nullptr) found = &letter;
    if (search.direction < 0 && letter.at_ms < here_ms) found = &letter;
  }
  if (found == nullptr) {
    model.message = fmt::format("no {} {} this time", search.kills ? "OOM kill" : "event",
                                search.direction > 0 ? "after" : "before");
    return;
  }
  seek(step, is_kill(*found) ? found->at_ms - 1 : found->at_ms, 0);
  model.event_ms = found->at_ms;
  if (is_kill(*found)) place(model).pid = pid_in(found->text);
}

bool move_in_time(Step& step, Action action) {
  Model& model = step.model;
  if (const auto columns = columns_moved(action, static_cast<std::int64_t>(model.bar.count))) {
    move_columns(step, *columns);
    return true;
  }
  if (const auto search = search_of(action)) {
    model.event_search = search;
    return true;
  }
  switch (action) {
    case Action::next_tick:
      seek(step, model.at_ms, 1);
      return true;
    case Action::previous_tick:
      seek(step, model.at_ms, -1);
      return true;
    case Action::pause:
      if (model.following) {
        stop_following(model);
      } else {
        follow(step);
      }
      return true;
    case Action::live:
      follow(step);
      return true;
    case Action::begin:
      seek(step, model.recorded.first_ms, 0);
      return true;
    case Action::zoom_in:
      zoom(model, -1);
      return true;
    case Action::zoom_out:
      zoom(model, 1);
      return true;
    case Action::zoom_first:
      zoom(model, 0);
      return true;
    default:
      return false;
  }
}

}  // namespace memoir::query::view
