#include "query/view/prompt.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "query/args/filter.h"
#include "query/args/times.h"
#include "query/render/layout.h"
#include "query/report/columns.h"
#include "query/view/lines.h"
#include "query/view/moves.h"
#include "query/view/pages.h"

namespace memoir::query::view {
namespace {

bool is_clock(std::string_view text) {
  const std::size_t colon = text.find(':');
  return colon != std::string_view::npos && colon > 0 && colon <= 2 &&
         text.find_first_not_of("0123456789:.") == std::string_view::npos;
}

// Returns whether a key is a character instead of the name of a key.
bool is_character(std::string_view key) {
  return key.size() == 1 || (!key.empty() && (static_cast<unsigned char>(key.front()) & 0x80U) != 0);
}

void remove_last(std::string& text) {
  while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0U) == 0x80U) text.pop_back();
  if (!text.empty()) text.pop_back();
}

void remove_word(std::string& text) {
  while (!text.empty() && text.back() == ' ') text.pop_back();
  while (!text.empty() && text.back() != ' ') text.pop_back();
}

// Makes a filter of the typed text. A bare word is searched for in command lines.
std::string filter_of(std::string_view text) {
  const bool bare = text.find_first_of("=~<>") == std::string_view::npos;
  return bare ? fmt::format("command~{}", text) : std::string(text);
}

void reset_position(Place& shown) {
  shown.selected = shown.top = 0;
  shown.key.clear();
}

void set_filters(Step& step, Words filters) {
  Model& model = step.model;
  if (const auto filter = Filter::parse(filters); !filter) {
    model.prompt.problem = filter.error().message;
    return;
  }
  place(model).filters = std::move(filters);
  reset_position(place(model));
  model.prompt = {};
}

// Sets the columns by names, as --columns does. Without names, the command's own columns are shown.
void set_columns(Model& model, std::string_view text) {
  Words names = split_columns(text);
  std::erase(names, "");
  if (const auto& report = answer_of(model, Slot::page).report) {
    Table table;
    table.columns = report->rows.columns;
    if (const Status chosen = choose_columns(names, false, table); !chosen) {
      model.prompt.problem = chosen.error().message;
      return;
    }
  }
  place(model).columns = std::move(names);
  make_lines(model);
  model.prompt = {};
}

// Selects the next line that contains the text, after the selected one.
void search(Step& step, const std::string& text) {
  Model& model = step.model;
  const std::string wanted = to_lower(text);
  const std::size_t count = model.lines.size();
  std::size_t from = 0;
  while (from < count && model.lines[from].row && *model.lines[from].row < place(model).selected) ++from;
  if (from < count && !model.lines[from].row) from = place(model).selected;
  for (std::size_t i = 1; i <= count; ++i) {
    const std::size_t at = (from + i) % count;
    if (to_lower(model.lines[at].text).find(wanted) == std::string::npos) continue;
    select(model, std::min(model.lines[at].row.value_or(at), item_count(model) - 1));
    model.prompt = {};
    return;
  }
  model.prompt.problem = fmt::format("no line with {}", to_printable(text));
}

void run_command(Step& step, Words words) {
  Model& model = step.model;
  if (!words.empty() && words.front() == "memoir") words.erase(words.begin());
  if (words.empty()) {
    model.prompt = {};
    return;
  }
  const Command* const command = find_command(model, words.front());
  if (command == nullptr) {
    model.prompt.problem = fmt::format("there is no command '{}'", to_printable(words.front()));
  } else if (!command->run) {
    model.prompt.problem = fmt::format("memoir {} runs in a shell only", command->name);
  } else {
    Place next{.page = Page::command};
    next.command = std::move(words);
    model.path.push_back(std::move(next));
    model.prompt = {};
  }
}

// Returns the time that the text of a jump means, relative to the cursor.
Result<std::int64_t> jump_time(const Model& model, std::string_view text) {
  const Zone zone = model.setup.zone;
  if (text.starts_with('+')) {
    const std::int64_t back_ms = TRY(parse_time("-" + std::string(text.substr(1)), model.at_ms, zone));
    return 2 * model.at_ms - back_ms;
  }
  if (text.starts_with('-')) return parse_time(text, model.at_ms, zone);
  if (is_clock(text)) {
    std::string day = format_date(model.at_ms, zone);
    return parse_time(day + " " + std::string(text), model.recorded.now_ms, zone);
  }
  return parse_time(text, model.recorded.now_ms, zone);
}

void finish(Step& step) {
  Model& model = step.model;
  const std::string text(trim(model.prompt.text));
  switch (model.prompt.ask) {
    case Ask::jump: {
      const Result<std::int64_t> at_ms = jump_time(model, text);
      if (!at_ms) {
        model.prompt.problem = at_ms.error().message;
        return;
      }
      model.prompt = {};
      seek(step, *at_ms, 0);
      return;
    }
    case Ask::filter:
      return set_filters(step, text.empty() ? Words() : Words{filter_of(text)});
    case Ask::user:
      return set_filters(step, text.empty() ? Words() : Words{"user=" + text});
    case Ask::search:
      if (!text.empty()) return search(step, text);
      break;
    case Ask::columns:
      return set_columns(model, text);
    case Ask::command:
      return run_command(step, split_words(text));
    case Ask::none:
      break;
  }
  model.prompt = {};
}

// Completes the key of a filter, or the name of a command.
void complete(Model& model) {
  std::string& text = model.prompt.text;
  const bool command = model.prompt.ask == Ask::command;
  if (!command && model.prompt.ask != Ask::filter) return;
  Words found;
  const auto add = [&](const std::string& name, const char* after) {
    if (name.starts_with(text)) found.push_back(name + after);
  };
  if (command) {
    for (const Command& of : *model.setup.commands) add(of.name, " ");
  } else {
    for (const std::string& key : filter_keys()) add(key, "=");
  }
  if (found.empty()) return;
  std::string common = found.front();
  for (const std::string& other : found) {
    std::size_t same = 0;
    while (same < std::min(common.size(), other.size()) && common[same] == other[same]) ++same;
    common.resize(same);
  }
  text = common;
  if (found.size() == 1) return;
  std::string list;
  for (const std::string& name : found) list += name + " ";
  model.prompt.problem = list;
}

const Command* sorted_command(const Model& model) {
  const Command* const command = command_of(model);
  return command == nullptr || command->by.empty() || place(model).page == Page::command ? nullptr : command;
}

std::vector<std::string> ranks_of(const Command& command) {
  std::vector<std::string> ranks = command.by;
  std::erase(ranks, "growth");  // only ranges have it
  return ranks;
}

}  // namespace

Words split_words(std::string_view text) {
  Words words;
  std::string word;
  bool has_word = false;
  char quote = '\0';
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != '\0') {
      if (c == quote) {
        quote = '\0';
      } else {
        word += c;
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
      has_word = true;
    } else if (c == '\\' && i + 1 < text.size()) {
      word += text[++i];
      has_word = true;
    } else if (c == ' ' || c == '\t') {
      if (has_word) words.push_back(std::exchange(word, {}));
      has_word = false;
    } else {
      word += c;
      has_word = true;
    }
  }
  if (has_word) words.push_back(word);
  return words;
}

void open_prompt(Model& model, Ask ask) {
  const Command* const command = command_of(model);
  const bool filters = command != nullptr && takes(*command, Option::filter) && place(model).page != Page::command;
  if (ask == Ask::filter && !filters) ask = Ask::search;
  if (ask == Ask::user && !filters) {
    model.message = "this page has no users";
    return;
  }
  if (ask == Ask::columns && !has_rows(model)) {
    model.message = "this page has no columns to choose";
    return;
  }
  model.prompt = {ask, {}, {}};
  if (ask == Ask::columns) model.prompt.text = fmt::format("{}", fmt::join(place(model).columns, ","));
  if (ask == Ask::filter && !place(model).filters.empty()) model.prompt.text = place(model).filters.front();
}

void type(Step& step, const std::string& key) {
  Prompt& prompt = step.model.prompt;
  prompt.problem.clear();
  if (key == "Enter") return finish(step);
  if (key == "Esc" || key == "^C") {
    prompt = {};
  } else if (key == "Tab") {
    complete(step.model);
  } else if (key == "Backspace") {
    remove_last(prompt.text);
  } else if (key == "^U") {
    prompt.text.clear();
  } else if (key == "^W") {
    remove_word(prompt.text);
  } else if (key == "Space") {
    prompt.text += ' ';
  } else if (is_character(key)) {
    prompt.text += key;
  }
}

std::string prompt_text(const Model& model) {
  const std::string typed = showable(to_printable(model.prompt.text));
  switch (model.prompt.ask) {
    case Ask::jump:
      return "jump to: " + typed;
    case Ask::filter:
      return "filter: " + typed;
    case Ask::user:
      return "user: " + typed;
    case Ask::search:
      return "/" + typed;
    case Ask::columns:
      return "columns: " + typed;
    case Ask::command:
      return "memoir " + typed;
    case Ask::none:
      break;
  }
  return {};
}

std::string prompt_meaning(const Model& model) {
  const Prompt& prompt = model.prompt;
  if (!prompt.problem.empty()) return showable(to_printable(prompt.problem));
  const std::string_view text = trim(prompt.text);
  if (prompt.ask == Ask::jump && text.empty()) return "03:14, -10m, +2h, yesterday, 2026-11-20 03:14";
  if (prompt.ask == Ask::jump) {
    const Result<std::int64_t> at_ms = jump_time(model, text);
    return at_ms ? format_time(*at_ms, model.setup.zone) : std::string("not a time yet");
  }
  if (prompt.ask == Ask::filter && text.empty()) return "user=root, category=web, rss>100M, a word of the command";
  if (prompt.ask == Ask::filter) return filter_of(text);
  if (prompt.ask == Ask::columns) return "pss,pid,command; empty: the default columns";
  if (prompt.ask == Ask::command && text.empty()) return "trend nginx, peaks, leaks, exits …";
  return {};
}

void open_sort_menu(Model& model) {
  const Command* const command = sorted_command(model);
  if (command == nullptr) {
    model.message = "this page cannot be sorted";
    return;
  }
  Menu menu{Choice::by, "sort by", ranks_of(*command), 0};
  const auto now = std::ranges::find(menu.choices, place(model).by.value_or(menu.choices.front()));
  if (now != menu.choices.end()) menu.selected = static_cast<std::size_t>(now - menu.choices.begin());
  model.menu = std::move(menu);
}

void open_group_menu(Model& model) {
  const Command* const command = command_of(model);
  const Page page = place(model).page;
  if (command == nullptr || command->groups.empty() || (page != Page::processes && page != Page::compare)) {
    model.message = "only processes have groups; 1 shows them";
    return;
  }
  Menu menu{Choice::group, "group by", command->groups, 0};
  const auto now = std::ranges::find(menu.choices, place(model).group);
  if (now != menu.choices.end()) menu.selected = static_cast<std::size_t>(now - menu.choices.begin());
  model.menu = std::move(menu);
}

void open_save_menu(Model& model) {
  model.menu = Menu{Choice::format, "save as", {"html", "markdown", "json", "csv", "text", std::string(kExtract)}, 0};
}

void by_memory(Model& model) {
  if (sorted_command(model) == nullptr) {
    model.message = "this page cannot be sorted";
  } else {
    place(model).by.reset();
  }
}

void choose_by(Model& model, int direction) {
  const Command* const command = sorted_command(model);
  if (command == nullptr) {
    model.message = "this page cannot be sorted";
    return;
  }
  const std::vector<std::string> ranks = ranks_of(*command);
  const auto now = std::ranges::find(ranks, place(model).by.value_or(ranks.front())) - ranks.begin();
  const auto count = static_cast<std::ptrdiff_t>(ranks.size());
  place(model).by = ranks[static_cast<std::size_t>((now + direction + count) % count)];
}

void choose(Step& step, const std::string& key) {
  Model& model = step.model;
  Menu& menu = *model.menu;
  const std::size_t count = menu.choices.size();
  const auto action = action_of(key);
  if (action == Action::up || key == "<") {
    menu.selected = (menu.selected + count - 1) % count;
  } else if (action == Action::down || action == Action::sort || action == Action::group || key == ">") {
    menu.selected = (menu.selected + 1) % count;
  } else if (action == Action::enter || key == "Space") {
    const std::string chosen = menu.choices[menu.selected];
    switch (menu.of) {
      case Choice::by:
        place(model).by = chosen;
        break;
      case Choice::group:
        place(model).group = menu.selected == 0 ? std::string() : chosen;
        reset_position(place(model));
        break;
      case Choice::format:
        model.message = "saving …";
        model.saves.insert(++model.ids);
        model.quits = false;
        step.requests.emplace_back(
            AskFor{Slot::save, model.ids, words_to_save(model, chosen), false, file_to_save(model, chosen)});
        break;
    }
    model.menu.reset();
  } else {
    model.menu.reset();
  }
}

}  // namespace memoir::query::view
