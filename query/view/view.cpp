// memoir view: shows the recording on a terminal, live and back in time.

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "base/file.h"
#include "base/nearest.h"
#include "base/text.h"
#include "base/transformed.h"
#include "query/args/database_path.h"
#include "query/args/when.h"
#include "query/render/shell_text.h"
#include "query/render/terminal.h"
#include "query/state/process_columns.h"
#include "query/view/loop.h"
#include "query/view/pages.h"
#include "query/view/player.h"

namespace memoir::query {
namespace {

using view::Page;

constexpr std::array kPages{Page::processes, Page::cgroups, Page::tree, Page::memory, Page::events, Page::incident};

std::vector<std::string> page_names() {
  return transformed(kPages, [](Page page) { return std::string(view::tab_name(page)); });
}

Result<Page> page_of(const Options& options) {
  if (options.subjects.empty()) return Page::processes;
  const std::string& name = options.subjects.front();
  for (const Page page : kPages) {
    if (name == view::tab_name(page) || name == std::to_string(static_cast<int>(page) + 1)) return page;
  }
  const std::vector<std::string> names = page_names();
  return Error{ErrorKind::malformed, fmt::format("there is no page '{}': {}{}", to_printable(name),
                                                 fmt::join(names, ", "), did_you_mean(name, names))};
}

Result<view::Start> start_of(const Options& options, const view::RecordingInfo& recorded) {
  view::Start start;
  start.page = TRY(page_of(options));
  const When when = TRY(resolve_when(options, {recorded.first_ms, recorded.last_ms}, recorded.now_ms));
  start.at_ms = when.at_ms;
  start.range = when.range;
  start.last_oom = options.last_oom;
  start.place.by = options.by;
  start.place.group = options.group.value_or("process") == "process" ? "" : *options.group;
  start.place.filters = options.filters;
  start.place.columns = options.columns;
  return start;
}

view::Setup setup_of(const Options& options, const Interaction& around) {
  view::Setup setup;
  setup.zone = options.zone;
  setup.units = options.units;
  setup.ascii = options.ascii;
  setup.mouse = !options.no_mouse;
  setup.color = options.color == Color::automatic ? terminal_has_color() : options.color == Color::always;
  setup.commands = &around.commands;
  setup.tier = options.tier;
  if (options.utc) setup.common.emplace_back("--utc");
  if (options.units_given) setup.common.insert(setup.common.end(), {"--units", *options.units_given});
  if (!options.db.empty()) setup.shown = {"--db", options.db};
  return setup;
}

// The command that prints the same table without a terminal.
std::string plain_command(const Options& options) {
  std::string text = "memoir top";
  if (options.at) text += " --at " + shell_word(*options.at);
  return text;
}

Result<std::string> keys_in(const std::string& path) {
  Buffer buffer;
  return std::string(TRY(read_file(path, buffer)));
}

// Returns the screens after each line of keys.
Result<std::string> played(Session& session, const Options& options, const Interaction& around) {
  const std::string keys = TRY(keys_in(*options.play_keys));
  const std::int64_t now_ms = around.clock.now().wall_ms;
  const view::RecordingInfo recorded = view::recorded_of(session, now_ms);
  const view::Start from = TRY(start_of(options, recorded));
  Screen screen;
  screen.columns = columns_asked().value_or(screen.columns);
  view::Player player(session, around, now_ms, view::start(setup_of(options, around), screen, recorded, from));
  std::string out = player.screen().text();
  for (std::string_view rest = keys; !rest.empty() && !player.ended();) {
    std::string_view line = cut_line(rest);
    for (std::string_view key = cut_word(line); !key.empty(); key = cut_word(line)) player.press(std::string(key));
    out += player.screen().text();
  }
  return out;
}

Result<std::string> run_view(const Options& options, const Interaction& around) {
  TRY(page_of(options));
  const std::string path = TRY(find_database(options.db));
  if (options.play_keys) {
    Session session = TRY(Session::open(path, kKeptBytes));
    return played(session, options, around);
  }
  const char* const term = std::getenv("TERM");
  const bool dumb = term == nullptr || std::string_view(term) == "dumb";
  if (isatty(STDIN_FILENO) == 0 || isatty(STDOUT_FILENO) == 0 || dumb)
    return Error{ErrorKind::malformed,
                 fmt::format("view needs a terminal that can move its cursor; without one use {}, or another command",
                             plain_command(options))};
  Session session = TRY(Session::open(path, kKeptBytes));
  const view::RecordingInfo recorded = view::recorded_of(session, around.clock.now().wall_ms);
  const view::Start start = TRY(start_of(options, recorded));
  const std::string last =
      TRY(view::run_on_terminal(std::move(session), setup_of(options, around), start, around, options.record_keys));
  return last.empty() ? std::string() : last + "\n";
}

}  // namespace

Command view_command() {
  return {.name = "view",
          .summary = "the recording on a terminal, live and back in time",
          .subject = "[PAGE]",
          .options = {Option::at, Option::last_oom, Option::from, Option::to, Option::last, Option::day, Option::by,
                      Option::group, Option::filter, Option::tier, Option::columns, Option::ascii, Option::no_mouse,
                      Option::record_keys, Option::play_keys},
          .by = names_of(kRankedMetrics),
          .groups = process_groups(),
          .examples = {{"memoir view", "the last tick, and each new one"},
                       {"memoir view --last-oom", "the moment before the last OOM kill"}},
          .subject_help = "PAGE: processes (the default), cgroups, tree, memory, events or incident",
          .interact = run_view,
          .formats = {"table"},
          .subject_words = page_names()};
}

}  // namespace memoir::query
