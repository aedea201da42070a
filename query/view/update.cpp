#include "query/view/update.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "query/view/keys.h"
#include "query/view/layout_of.h"
#include "query/view/lines.h"
#include "query/view/mouse.h"
#include "query/view/moves.h"
#include "query/view/pages.h"
#include "query/view/prompt.h"

namespace memoir::query::view {
namespace {

constexpr std::size_t index_of(Slot slot) {
  return static_cast<std::size_t>(slot);
}

Question& asked_of(Model& model, Slot slot) {
  return model.asked[index_of(slot)];
}

void ask_again(Model& model, Slot slot) {
  asked_of(model, slot).words.clear();
}

// Puts the values of the process into the bar if they are of the process that is shown.
void update_process(Model& model) {
  const Answer& answer = model.answers[index_of(Slot::process)];
  const Question& asked = asked_of(model, Slot::process);
  const bool is_current = !asked.words.empty() && !asked.pending && answer.report;
  if (is_current && answer.words[1] == model.subject)
    update_columns(model.bar, *answer.report, model.bar.process_open_ms, model.bar.process);
}

// Drops the columns and the lives of the process shown before.
void show_subject(Model& model, std::string subject) {
  model.subject = std::move(subject);
  clear_process(model.bar);
  model.answers[index_of(Slot::lives)] = {};
  ask_again(model, Slot::lives);  // even for the same program
  update_process(model);
}

// The process of a selected row replaces the one shown before once its answer is there.
void follow_subject(Model& model) {
  const std::string subject = process_subject(model);
  if (subject == model.subject || (!subject.empty() && place(model).page != Page::process)) return;
  model.answers[index_of(Slot::side)] = {};
  show_subject(model, subject);
}

// Asks a slot's question when its words have changed, or after ask_again(). During a seek nothing is asked, because the
// time is not known yet.
void ask_for_wanted(Step& step) {
  Model& model = step.model;
  follow_subject(model);
  if (model.seeking && !model.event_search) return;
  std::array<Words, kSlots> words = wanted(model);
  for (std::size_t i = 0; i < kSlots; ++i) {
    Question& asked = model.asked[i];
    if (asked.words == words[i]) continue;
    const bool cancelled = words[i].empty();
    asked = {cancelled ? 0 : ++model.ids, std::move(words[i]), !cancelled};
    if (cancelled) continue;
    const auto slot = static_cast<Slot>(i);
    const bool rests =
        asked.words.front() == "incident" || slot == Slot::process || slot == Slot::side || slot == Slot::lives;
    step.requests.emplace_back(AskFor{slot, asked.id, asked.words, rests});
  }
}

// Removes the answer of the previous page, which must not be shown on this one.
void on_page_change(Model& model) {
  model.answers[index_of(Slot::page)] = {};
  model.lines.clear();
  model.head.clear();
  ask_again(model, Slot::page);
}

void show_tab(Model& model, Page page) {
  if (model.path.size() == 1 && place(model).page == page) return;
  if (static_cast<std::size_t>(model.path.front().page) < kTabs)
    model.tabs[static_cast<std::size_t>(model.path.front().page)] = model.path.front();
  model.path = {model.tabs[static_cast<std::size_t>(page)]};
  on_page_change(model);
}

void go_back(Model& model) {
  if (model.path.size() > 1) {
    model.path.pop_back();
    on_page_change(model);
    return;
  }
  Place& shown = place(model);
  if (!shown.filters.empty() || !shown.group.empty()) {
    shown.filters.clear();
    shown.group.clear();
    return;
  }
  model.message = "there is no page to go back to; q quits";
}

void enter(Step& step) {
  Model& model = step.model;
  auto entered = enter_row(model);
  model.enters = model.lines.empty() && asked_of(model, Slot::page).pending;
  if (model.enters) return;
  if (!entered) {
    model.message = has_rows(model) ? "this row has nothing to enter" : "this page has no rows to enter";
    return;
  }
  if (entered->at_ms) {
    stop_following(model);
    model.at_ms = std::clamp(*entered->at_ms, model.recorded.first_ms, model.recorded.last_ms);
    model.event_ms = entered->at_ms;
    show_time(model.bar, model.at_ms, model.recorded.last_ms, model.setup.zone);
  }
  model.path.push_back(std::move(entered->place));
  on_page_change(model);
}

void compare(Model& model) {
  if (place(model).page == Page::compare) return go_back(model);
  Place next{.page = Page::compare};
  if (place(model).page == Page::processes) {
    next.group = place(model).group;
    next.filters = place(model).filters;
  }
  model.path.push_back(std::move(next));
  on_page_change(model);
}

// Makes the bar show the selected row, or the machine again.
void change_bar(Model& model) {
  const bool machine = model.bar_subject.empty();
  auto subject = machine ? bar_subject(model) : BarSubject();
  if (!subject) {
    model.message = "this row has no history of its own";
    return;
  }
  model.bar_subject = std::move(subject->words);
  model.bar_name = std::move(subject->name);
  clear_columns(model.bar);
}

void swap_with_mark(Step& step) {
  Model& model = step.model;
  if (!model.mark_ms) {
    model.message = "no mark is set; m sets one";
    return;
  }
  const std::int64_t mark_ms = *model.mark_ms;
  model.mark_ms = model.at_ms;
  seek(step, mark_ms, 0);
}

void act(Step& step, Action action) {
  Model& model = step.model;
  if (move_in_time(step, action)) return;
  if (move_in_rows(model, action)) return;
  switch (action) {
    case Action::jump:
      return open_prompt(model, Ask::jump);
    case Action::mark:
      model.mark_ms = model.at_ms;
      model.message = fmt::format("marked {}; d compares with it", time_word(model.at_ms, model.setup.zone));
      return;
    case Action::swap:
      return swap_with_mark(step);
    case Action::compare:
      return compare(model);
    case Action::processes:
    case Action::cgroups:
    case Action::tree:
    case Action::memory:
    case Action::events:
    case Action::incident:
      return show_tab(model, static_cast<Page>(static_cast<int>(action) - static_cast<int>(Action::processes)));
    case Action::next_page: {
      const auto now = static_cast<std::size_t>(model.path.front().page);
      return show_tab(model, static_cast<Page>((now + 1) % kTabs));
    }
    case Action::enter:
      return enter(step);
    case Action::back:
      return go_back(model);
    case Action::filter:
      return open_prompt(model, Ask::filter);
    case Action::no_filter:
      place(model).filters.clear();
      return;
    case Action::user:
      return open_prompt(model, Ask::user);
    case Action::group:
      return open_group_menu(model);
    case Action::sort:
      return open_sort_menu(model);
    case Action::sort_next:
      return choose_by(model, 1);
    case Action::sort_previous:
      return choose_by(model, -1);
    case Action::by_memory:
      return by_memory(model);
    case Action::columns:
      return open_prompt(model, Ask::columns);
    case Action::whole_row:
      model.whole_row = has_rows(model);
      if (!model.whole_row) model.message = "this page has no rows";
      return;
    case Action::row_bar:
      return change_bar(model);
    case Action::copy:
    case Action::copy_all: {
      const bool all = action == Action::copy_all;
      model.last_command = all ? shown_commands(model) : shown_command(model);
      model.message =
          all ? "copied the commands of all that is shown; they are printed at the end" : model.last_command;
      step.requests.emplace_back(Copy{model.last_command});
      return;
    }
    case Action::save:
      return open_save_menu(model);
    case Action::command:
      return open_prompt(model, Ask::command);
    case Action::help:
      model.help = true;
      return;
    case Action::redraw:
      step.requests.emplace_back(Signal::redraw);
      return;
    case Action::suspend:
      step.requests.emplace_back(Signal::suspend);
      return;
    case Action::quit:
      if (!model.saves.empty() && !std::exchange(model.quits, true)) {
        model.message = "a file is being saved; q quits without it";
      } else {
        step.requests.emplace_back(Signal::quit);
      }
      return;
    default:
      return;
  }
}

void on(Step& step, const KeyPress& pressed) {
  Model& model = step.model;
  model.message.clear();
  const bool is_covered = model.prompt.ask != Ask::none || model.menu || model.help || model.whole_row;
  const KeyPress key{is_covered ? pressed.name : point(step, pressed.name)};
  if (key.name.empty()) return;
  model.enters = false;
  const auto action = action_of(key.name);
  if (model.prompt.ask != Ask::none) {
    const std::size_t depth = model.path.size();
    type(step, key.name);
    if (model.path.size() != depth) on_page_change(model);
    return;
  }
  if (model.menu) return choose(step, key.name);
  if (model.help || model.whole_row) {
    model.help = model.whole_row = false;
    if (action == Action::help || action == Action::back || action == Action::enter || action == Action::quit) return;
  }
  if (action) return act(step, *action);
  model.message = hint_for(key.name);
}

void on(Step& step, const Resized& resized) {
  Model& model = step.model;
  model.screen = resized.screen;
  fit_bar(model);
  make_lines(model);
}

void on_saved(Model& model, const Answered& answered) {
  model.saves.erase(answered.id);
  model.quits = false;
  model.message = answered.error.empty() ? "saved as " + answered.file : answered.error;
}

void on(Step& step, const Answered& answered) {
  Model& model = step.model;
  if (answered.slot == Slot::save) return on_saved(model, answered);
  Question& asked = asked_of(model, answered.slot);
  if (asked.id != answered.id || !asked.pending) return;
  asked.pending = false;
  Answer& answer = model.answers[index_of(answered.slot)];
  answer = {asked.words, answered.report, answered.error};
  switch (answered.slot) {
    case Slot::page:
      make_lines(model);
      select_row(model);
      if (std::exchange(model.enters, false)) enter(step);
      break;
    case Slot::bar:
      if (answer.report) update_columns(model.bar, *answer.report, model.bar.open_ms, model.bar.columns);
      if (!answer.error.empty()) model.message = answer.error;
      break;
    case Slot::pressure:
      if (answer.report) update_columns(model.bar, *answer.report, model.bar.open_ms, model.bar.pressure);
      break;
    case Slot::letters:
      if (answer.report) update_letters(model.bar, *answer.report);
      if (place(model).page == Page::process) make_lines(model);
      break;
    case Slot::events:
      if (model.event_search) finish_event_search(step);
      break;
    case Slot::process:
      update_process(model);
      break;
    case Slot::side:
      if (answer.words[1] != model.subject) show_subject(model, answer.words[1]);
      break;
    case Slot::lives:
      if (place(model).page == Page::process) make_lines(model);
      break;
    case Slot::machine:
    case Slot::save:
    case Slot::count_:
      break;
  }
}

void on(Step& step, const Sought& sought) {
  Model& model = step.model;
  if (!model.seeking || sought.id != model.seek) return;
  model.seeking = false;
  model.at_ms = sought.at_ms;
  show_time(model.bar, model.at_ms, model.recorded.last_ms, model.setup.zone);
  if (model.steps != 0) seek(step, model.at_ms, std::exchange(model.steps, 0));
}

// Slots that show the open columns of the bar.
constexpr std::array kOpenSlots{Slot::bar, Slot::pressure, Slot::letters, Slot::process};

// Least time between two requests for the lives of a program.
constexpr std::int64_t kLivesEachMs = 10'000;

// Resets what belongs to the previous file.
void show_other_file(Step& step) {
  Model& model = step.model;
  model.seen_ticks = model.recorded.ticks;
  model.mark_ms.reset();
  fit_bar(model);
  on_page_change(model);
  if (!model.following) seek(step, model.at_ms, 0);
  model.message = "another file is at this path now";
}

void on(Step& step, const Ticked& ticked) {
  Model& model = step.model;
  const RecordingInfo before = std::exchange(model.recorded, ticked.recorded);
  model.ended = false;
  if (ticked.same) return;
  const bool waits = std::ranges::any_of(kOpenSlots, [&](Slot slot) { return asked_of(model, slot).pending; });
  if (model.bar.holds(before.last_ms) && !waits)
    complete_before(model.bar, model.bar.begin_of(model.bar.column_of(before.last_ms)));
  if (before.ticks == 0 && model.recorded.ticks > 0) fit_bar(model);
  if (before.file != model.recorded.file) show_other_file(step);
  if (model.following) follow(step);
  // Asks again, because the open columns have new values and there may be new events.
  if (model.bar.until_ms() < model.recorded.last_ms) return;
  for (const Slot slot : kOpenSlots) ask_again(model, slot);
  // The other lives take longer to find than all else about a process.
  if (model.recorded.last_ms - model.lives_ms >= kLivesEachMs || model.recorded.last_ms < model.lives_ms) {
    model.lives_ms = model.recorded.last_ms;
    ask_again(model, Slot::lives);
  }
  if (place(model).page == Page::events) ask_again(model, Slot::page);
}

void on(Step& step, const Lost& lost) {
  step.model.message = lost.message;
  step.model.ended = true;
}

}  // namespace

Step update(Model model, const Msg& msg) {
  Step step{std::move(model), {}};
  std::visit([&step](const auto& of) { on(step, of); }, msg);
  ask_for_wanted(step);
  keep_visible(step.model);
  return step;
}

Step start(const Setup& setup, Screen screen, const RecordingInfo& recorded, const Start& from) {
  Model model;
  model.setup = setup;
  model.screen = screen;
  model.recorded = recorded;
  for (std::size_t i = 0; i < kTabs; ++i) model.tabs[i].page = static_cast<Page>(i);
  model.tabs.front() = from.place;
  model.path = {model.tabs[static_cast<std::size_t>(from.page)]};
  model.following = !from.at_ms && !from.range;
  model.at_ms = from.at_ms.value_or(from.range ? from.range->to_ms : recorded.last_ms);
  model.at_ms = std::clamp(model.at_ms, recorded.first_ms, std::max(recorded.first_ms, recorded.last_ms));
  model.seen_ticks = recorded.ticks;
  model.bar.width_ms = 60'000;
  if (from.range) {
    const auto columns = static_cast<std::int64_t>(bar_columns(screen));
    model.bar.width_ms = bar_width((from.range->to_ms - from.range->from_ms) / columns + 1);
  }
  Step step{std::move(model), {}};
  fit_bar(step.model);
  if (from.last_oom) {
    step.model.following = false;
    step.model.event_search = EventSearch{-1, true};
    step.model.event_ms = recorded.last_ms + 1;
  }
  if (!step.model.following && !from.last_oom && recorded.ticks > 0) seek(step, step.model.at_ms, 0);
  ask_for_wanted(step);
  return step;
}

}  // namespace memoir::query::view
