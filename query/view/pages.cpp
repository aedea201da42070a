#include "query/view/pages.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "model/metric.h"
#include "query/args/times.h"
#include "query/render/shell_text.h"
#include "query/view/cells_of.h"
#include "query/view/layout_of.h"

namespace memoir::query::view {
namespace {

// More rows are of no use on a screen, and take time to answer.
constexpr const char* kMaxRows = "1000";
constexpr const char* kMaxEvents = "5000";
constexpr const char* kMaxLives = "8";

std::string without_zone(std::string text) {
  constexpr std::string_view zone = " UTC";
  if (text.ends_with(zone)) text.resize(text.size() - zone.size());
  return text;
}

void add(Words& words, const char* option, const std::optional<std::string>& value) {
  if (!value) return;
  words.emplace_back(option);
  words.push_back(*value);
}

void add_span(Words& words, const Model& model, std::optional<std::int64_t> from_ms = {}) {
  const Zone zone = model.setup.zone;
  add(words, "--from", time_word(from_ms.value_or(model.bar.from_ms), zone));
  add(words, "--to", time_word(model.bar.until_ms() - 1000, zone));
}

// Words of a `:` command, with the time of the view unless the command has its own.
Words command_words(const Model& model, const Place& place) {
  Words words = place.command;
  const auto has = [&words](std::string_view option) {
    return std::ranges::any_of(words, [option](const std::string& word) {
      return word == option || (word.starts_with(option) && word.substr(option.size()).starts_with('='));
    });
  };
  constexpr std::array times{"--at", "--from", "--to", "--last", "--day", "--last-oom", "--since", "--until"};
  if (words.empty() || std::ranges::any_of(times, has)) return words;
  const Command* const command = find_command(model, words.front());
  if (command == nullptr) return words;
  if (takes(*command, Option::at)) {
    add(words, "--at", time_word(model.at_ms, model.setup.zone));
  } else if (takes(*command, Option::from)) {
    add_span(words, model);
  }
  return words;
}

// Returns the time of the event at the cursor. A kill comes after the last tick before it, so kills up to one interval
// later count.
std::int64_t incident_ms(const Model& model) {
  if (model.event_ms) return *model.event_ms;
  for (const Letter& letter : model.bar.letters) {
    if (is_kill(letter) && letter.at_ms > model.at_ms && letter.at_ms <= model.at_ms + model.recorded.interval_ms)
      return letter.at_ms;
  }
  return model.at_ms;
}

Words page_words(const Model& model) {
  const Place& shown = place(model);
  const std::string at = time_word(model.at_ms, model.setup.zone);
  Words words;
  switch (shown.page) {
    case Page::processes:
      words = {"top", "--at", at};
      if (!shown.group.empty()) add(words, "--group", shown.group);
      break;
    case Page::cgroups:
      words = {"cgroups", "--at", at};
      break;
    case Page::tree:
      words = {"tree", "--at", at};
      break;
    case Page::memory:
      return {"memory", "--at", at};
    case Page::events:
      words = {"events"};
      add_span(words, model);
      words.insert(words.end(), {"--limit", kMaxRows});
      return words;
    case Page::incident:
      return {"incident", "--at", time_word(incident_ms(model), model.setup.zone)};
    case Page::compare:
      words = {"diff", time_word(compared_with(model), model.setup.zone), at};
      if (!shown.group.empty()) add(words, "--group", shown.group);
      break;
    case Page::process:
      return {"process", shown.subject, "--at", at};
    case Page::command:
      return command_words(model, shown);
  }
  add(words, "--by", shown.by);
  if (shown.page != Page::cgroups) {
    for (const std::string& filter : shown.filters) add(words, "--filter", filter);
  }
  words.insert(words.end(), {"--limit", kMaxRows});
  return words;
}

Words with_common(const Model& model, Words words) {
  if (words.empty()) return words;
  const Command* const command = find_command(model, words.front());
  if (command != nullptr && takes(*command, Option::tier)) add(words, "--tier", model.setup.tier);
  words.insert(words.end(), model.setup.common.begin(), model.setup.common.end());
  return words;
}

// The command of the page, with the columns chosen there.
Words words_with_columns(const Model& model) {
  Words words = with_common(model, page_words(model));
  if (!place(model).columns.empty()) add(words, "--columns", fmt::format("{}", fmt::join(place(model).columns, ",")));
  return words;
}

std::string shell_line(const Model& model, const Words& words) {
  std::string text = "memoir";
  for (const std::string& word : words) text += " " + shell_word(word);
  for (const std::string& word : model.setup.shown) text += " " + shell_word(word);
  return text;
}

std::string step_word(std::int64_t width_ms) {
  if (width_ms % 3'600'000 == 0) return fmt::format("{}h", width_ms / 3'600'000);
  if (width_ms % 60'000 == 0) return fmt::format("{}m", width_ms / 60'000);
  return fmt::format("{}s", width_ms / 1000);
}

std::string process_name(const Cells& cells, std::size_t row, std::int64_t pid) {
  const std::string comm = cells.text(row, "comm");
  return fmt::format("{} ({})", comm.empty() ? "process" : comm, pid);
}

std::optional<Entered> enter_process(const Cells& cells, std::size_t row) {
  const auto pid = cells.integer(row, "pid");
  if (!pid) return std::nullopt;
  const auto start_ms = cells.integer(row, "start_ms");
  Place next{.page = Page::process};
  next.subject = start_ms ? fmt::format("{}@{}", *pid, *start_ms) : fmt::format("{}", *pid);
  next.name = process_name(cells, row, *pid);
  return Entered{next, std::nullopt};
}

std::optional<Entered> enter_line_of_memory(const std::string& name) {
  Place next;
  if (name == "anon") {
    next.by = "anon";
    return Entered{next, std::nullopt};
  }
  if (name == "shmem" || name == "tmpfs" || name == "sysv") {
    next.page = Page::command;
    next.command = {name == "sysv" ? "shm" : "tmpfs"};
    return Entered{next, std::nullopt};
  }
  if (name == "page_cache") {
    next.page = Page::cgroups;
    next.by = "file";
    return Entered{next, std::nullopt};
  }
  return std::nullopt;
}

}  // namespace

std::string_view tab_name(Page page) {
  constexpr std::array names{"processes", "cgroups", "tree", "memory", "events", "incident"};
  return names.at(static_cast<std::size_t>(page));
}

std::string_view short_tab_name(Page page) {
  constexpr std::array names{"proc", "cgr", "tree", "mem", "ev", "inc"};
  return names.at(static_cast<std::size_t>(page));
}

std::string time_word(std::int64_t ms, Zone zone) {
  const std::int64_t part = (ms % 1000 + 1000) % 1000;
  if (moments_of(to_civil(ms, zone), zone).size() > 1) return fmt::format("@{}", ms);
  const std::string second = without_zone(format_time(ms - part, zone));
  return part == 0 ? second : fmt::format("{}.{:03}", second, part);
}

const Command* find_command(const Model& model, std::string_view name) {
  const auto found = std::ranges::find(*model.setup.commands, name, &Command::name);
  return found == model.setup.commands->end() ? nullptr : &*found;
}

const Command* command_of(const Model& model) {
  const Words words = page_words(model);
  return words.empty() ? nullptr : find_command(model, words.front());
}

bool takes(const Command& command, Option option) {
  return std::ranges::find(command.options, option) != command.options.end();
}

std::string process_subject(const Model& model) {
  const Place& shown = place(model);
  if (shown.page == Page::process) return shown.subject;
  const auto& report = answer_of(model, Slot::page).report;
  if (!has_side(model) || !report || shown.selected >= report->rows.rows.size()) return {};
  const auto entered = enter_process(Cells(report->rows), shown.selected);
  return entered ? entered->place.subject : std::string();
}

const Answer& process_answer(const Model& model) {
  return answer_of(model, place(model).page == Page::process ? Slot::page : Slot::side);
}

bool has_side(const Model& model) {
  constexpr std::size_t min_columns = 140;
  const Place& shown = place(model);
  const bool of_processes = shown.page == Page::processes || shown.page == Page::tree || shown.page == Page::compare;
  return model.screen.columns >= min_columns && of_processes && shown.group.empty();
}

std::size_t page_columns(const Model& model) {
  return std::max(model.screen.columns, kMinColumns) - (has_side(model) ? kSideColumns : 0);
}

std::array<Words, kSlots> wanted(const Model& model) {
  std::array<Words, kSlots> all;
  const auto set = [&](Slot slot, Words words) {
    all[static_cast<std::size_t>(slot)] = with_common(model, std::move(words));
  };
  if (model.recorded.ticks == 0) return all;
  const std::string process = process_subject(model);
  set(Slot::page, page_words(model));
  // The answer of the processes page has the machine in its totals.
  if (place(model).page != Page::processes)
    set(Slot::machine, {"top", "--at", time_word(model.at_ms, model.setup.zone), "--limit", "1"});
  if (model.bar.count > 0) {
    const auto set_open = [&](Slot slot, Words words) {
      add_span(words, model, model.bar.open_ms);
      set(slot, std::move(words));
    };
    const std::string step = step_word(model.bar.width_ms);
    Words bar{"trend"};
    const Words machine{"machine"};
    const Words& subject = model.bar_subject.empty() ? machine : model.bar_subject;
    bar.insert(bar.end(), subject.begin(), subject.end());
    bar.insert(bar.end(), {"--step", step});
    set_open(Slot::bar, std::move(bar));
    if (layout_of(model.screen).pressure_line > 0)
      set_open(Slot::pressure, {"trend", "machine", "--by", "pressure", "--step", step});
    set_open(Slot::letters, {"events", "--limit", kMaxEvents});
    if (!process.empty()) {
      Words words{"trend", process, "--step", step};
      add_span(words, model, process == model.subject ? model.bar.process_open_ms : model.bar.from_ms);
      set(Slot::process, std::move(words));
    }
  }
  if (model.event_search) set(Slot::events, {"events", "--limit", kMaxEvents});
  if (process.empty()) return all;
  if (place(model).page != Page::process)
    set(Slot::side, {"process", process, "--at", time_word(model.at_ms, model.setup.zone)});
  const auto& answer = process_answer(model).report;
  if (const std::string identity = answer ? text_of(answer->facts, "identity") : ""; !identity.empty()) {
    Words words{"processes", "--filter", "identity=" + identity};
    add_span(words, model);
    words.insert(words.end(), {"--limit", kMaxLives});
    set(Slot::lives, std::move(words));
  }
  return all;
}

std::string shown_command(const Model& model) {
  return shell_line(model, words_with_columns(model));
}

std::string shown_commands(const Model& model) {
  Model whole = model;
  whole.bar.open_ms = whole.bar.process_open_ms = whole.bar.from_ms;
  std::string text = shown_command(model);
  const std::array<Words, kSlots> all = wanted(whole);
  for (std::size_t slot = 1; slot < kSlots; ++slot) {
    if (!all[slot].empty()) text += "\n" + shell_line(model, all[slot]);
  }
  return text;
}

Words words_to_save(const Model& model, const std::string& format) {
  if (format == kExtract) {
    Words words{"extract"};
    add_span(words, model);
    return with_common(model, std::move(words));
  }
  Words words = words_with_columns(model);
  words.insert(words.end(), {"--format", format == "text" ? "table" : format, "--color", "never"});
  return words;
}

std::string file_to_save(const Model& model, const std::string& format) {
  const Words words = page_words(model);
  std::string name = fmt::format("memoir-{}-{}", format == kExtract || words.empty() ? format : words.front(),
                                 format_time(model.at_ms, model.setup.zone).substr(0, 19));
  std::ranges::replace(name, ' ', '-');
  std::erase(name, ':');
  return name;
}

std::optional<BarSubject> bar_subject(const Model& model) {
  const auto& report = answer_of(model, Slot::page).report;
  const Place& shown = place(model);
  if (!report || shown.selected >= report->rows.rows.size()) return std::nullopt;
  const Cells cells(report->rows);
  const std::string key = row_key(*report, shown.selected);
  switch (shown.page) {
    case Page::processes:
    case Page::compare:
    case Page::tree:
      if (const auto entered = enter_process(cells, shown.selected))
        return BarSubject{{entered->place.subject}, entered->place.name};
      if (shown.group.empty()) return std::nullopt;
      return BarSubject{{fmt::format("{}:{}", shown.group, key)}, key};
    case Page::cgroups:
      return BarSubject{{"cgroup:" + key}, key};
    case Page::memory: {
      const std::string metric = cells.text(shown.selected, "name");
      if (!parse_metric(metric, SubjectKind::machine)) return std::nullopt;
      return BarSubject{{"machine", "--by", metric}, metric};
    }
    default:
      return std::nullopt;
  }
}

std::string row_key(const Report& report, std::size_t row) {
  const Cells cells(report.rows);
  if (row >= report.rows.rows.size()) return {};
  if (const auto pid = cells.integer(row, "pid"))
    return fmt::format("{}@{}", *pid, cells.integer(row, "start_ms").value_or(0));
  if (const auto at = cells.integer(row, "at_ms"); at && cells.has("kind"))
    return fmt::format("{} {}", *at, cells.text(row, "text"));
  // Groups, cgroups and the rows of `memory` have a name.
  for (const Column& column : report.rows.columns) {
    if (column.kind != Kind::text || column.name.empty() || column.name == "source") continue;
    std::string text = cells.text(row, column.name);
    if (!text.empty()) return text;
  }
  return {};
}

std::optional<std::size_t> find_row(const Report& report, std::string_view key) {
  if (key.empty()) return std::nullopt;
  for (std::size_t row = 0; row < report.rows.rows.size(); ++row) {
    if (row_key(report, row) == key) return row;
  }
  return std::nullopt;
}

std::optional<std::size_t> find_pid(const Report& report, std::int64_t pid) {
  const Cells cells(report.rows);
  for (std::size_t row = 0; row < report.rows.rows.size(); ++row) {
    if (cells.integer(row, "pid") == pid) return row;
  }
  return std::nullopt;
}

std::optional<Entered> enter_row(const Model& model) {
  const auto& report = answer_of(model, Slot::page).report;
  const Place& from = place(model);
  if (!report || from.selected >= report->rows.rows.size()) return std::nullopt;
  const Cells cells(report->rows);
  const std::size_t row = from.selected;
  switch (from.page) {
    case Page::processes:
    case Page::compare:
    case Page::tree: {
      if (from.page == Page::tree || from.group.empty()) return enter_process(cells, row);
      Place next = from;
      next.page = Page::processes;
      next.group.clear();
      next.filters.push_back(from.group + "=" + row_key(*report, row));
      next.key.clear();
      next.selected = next.top = 0;
      return Entered{next, std::nullopt};
    }
    case Page::cgroups: {
      Place next;
      next.filters = {"cgroup=" + cells.text(row, "cgroup")};
      return Entered{next, std::nullopt};
    }
    case Page::memory:
      return enter_line_of_memory(cells.text(row, "name"));
    case Page::events: {
      const auto at = cells.integer(row, "at_ms");
      if (!at) return std::nullopt;
      return Entered{Place{.page = Page::incident}, at};
    }
    case Page::incident:
    case Page::process:
    case Page::command:
      break;
  }
  return std::nullopt;
}

std::int64_t compared_with(const Model& model) {
  const std::int64_t other = model.mark_ms.value_or(model.at_ms - model.recorded.interval_ms);
  return other == model.at_ms ? other - model.recorded.interval_ms : other;
}

}  // namespace memoir::query::view
