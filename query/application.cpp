#include "query/application.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <fmt/format.h>
#include <iterator>

#include "base/text.h"
#include "base/version.h"
#include "query/args/database_path.h"
#include "query/args/filter.h"
#include "query/args/times.h"
#include "query/command_line.h"
#include "query/commands.h"
#include "query/exception.h"
#include "query/help.h"
#include "query/render/render.h"
#include "query/render/terminal.h"
#include "query/state/process_columns.h"
#include "store/names.h"
#include "store/sqlite/database.h"

namespace memoir::query {
namespace {

// Of processor time. A file may be made so that its answer never comes; one of ours takes a tenth of this.
constexpr std::chrono::milliseconds kAnswerWithin{8'000};

// Names for people, beside what rows are grouped by.
Status show_names(Reader& reader, const Options& options, Table& table) {
  if (options.group == "identity") return show_titles(reader, table);
  return options.group == "container" ? show_container_names(reader, table) : Done{};
}

// What an argument, a path or the file says is not to act upon a terminal. Some messages have several lines.
Outcome failure(Exit exit, std::string_view message) {
  std::string lines = "memoir: ";
  while (!message.empty()) lines += to_printable(cut_line(message)) + '\n';
  return {exit, "", std::move(lines), false};
}

Outcome failure(const Error& error) {
  return failure(error.kind == ErrorKind::malformed ? Exit::usage : Exit::failed, error.message);
}

// A subject that can be read, but of which nothing is recorded, is answered as a time without a tick is.
Outcome failure(const Command& command, const Error& error) {
  if (error.kind == ErrorKind::gone && !command.subject.empty()) return failure(Exit::empty, error.message);
  return failure(error);
}

std::string version_text() {
  return fmt::format("memoir {} ({}), SQLite {}\n", version(), version_commit(), sqlite_version());
}

// Names are written as they are: on a terminal they are not to act upon it.
std::string for_screen(std::string text, const std::optional<Screen>& screen) {
  if (!screen) return text;
  std::string out;
  for (std::string_view rest = text; !rest.empty();) out += to_printable(cut_line(rest)) + '\n';
  return out;
}

std::string render(const Asked& asked, const Report& report, const Options& options,
                   const std::optional<Screen>& screen) {
  switch (options.format) {
    case Format::json:
      return render_json(asked, report);
    case Format::csv:
      return for_screen(render_csv(report), screen);
    case Format::markdown:
      return render_markdown(asked, report, {options.zone, options.units, false, std::nullopt});
    case Format::html:
      return render_html(asked, report, {options.zone, options.units, false, std::nullopt});
    default:
      break;
  }
  const bool color = !options.no_color && terminal_has_color();
  const auto asked_for = columns_asked();
  const auto width = screen ? std::optional(screen->columns) : asked_for ? asked_for : report.width;
  return render_table(asked, report, {options.zone, options.units, color, width, options.ascii});
}

// What a library or our own code throws ends here, with the file that was asked.
template <typename Run>
auto guarded(const std::string& path, Run&& run) -> decltype(run()) {
  try {
    return run();
  } catch (const std::exception& error) {
    return Error{ErrorKind::io, fmt::format("{}: {}", path, exception_message(error))};
  }
}

std::string warning_lines(const std::vector<std::string>& warnings) {
  std::string lines;
  for (const std::string& warning : warnings) lines += fmt::format("memoir: {}\n", to_printable(warning));
  return lines;
}

Outcome outcome_of(const Asked& asked, const Report& report, const Options& options,
                   const std::optional<Screen>& screen) {
  Outcome outcome{Exit::answered, render(asked, report, options, screen), "", !options.no_pager};
  if (report.nothing_recorded) outcome.exit = Exit::empty;
  if (report.failed) outcome.exit = Exit::failed;
  // A machine finds its warnings in JSON; CSV has no place for them.
  if (options.format == Format::csv) outcome.error = warning_lines(report.warnings);
  if (!is_for_machines(options.format)) return outcome;
  outcome.error += warning_lines(report.left_out);
  if (options.format == Format::csv) return outcome;  // which has no sections
  for (const Section& section : report.sections) {
    for (const std::string& sentence : section.left_out)
      outcome.error += warning_lines({fmt::format("{}: {}", section.name, sentence)});
  }
  return outcome;
}

Outcome run_alone(const Command& command, const Options& options, const Clock& clock) {
  const Result<Report> report = command.run_alone(options, clock.now().wall_ms);
  if (!report) return failure(report.error());
  const Result<std::string> path = options.csv.empty() ? find_database(options.db) : Result<std::string>(std::string());
  return outcome_of({command.name, path ? *path : options.db, ""}, *report, options, terminal_screen());
}

// Where the filter names processes that nobody is: why nothing is shown.
std::optional<std::vector<std::string>> nobody(const Context& context, std::optional<Range> answered) {
  const Result<Filter> filter = Filter::parse(context.options.filters);
  if (!filter || filter->takes_all()) return std::nullopt;
  const std::int64_t at_ms = context.when.at_ms.value_or(context.file.last_tick_ms);
  const Range recent{context.when.at_ms ? at_ms : at_ms - kDayMs, at_ms};
  const Range range = context.when.range.value_or(answered.value_or(recent));
  const Result<std::vector<StoredProcess>> processes = load_processes(context.reader, range);
  if (!processes || processes->empty() || filter->names_any(*processes)) return std::nullopt;
  return filter->misses(*processes);
}

void append(std::vector<std::string>& list, std::vector<std::string> more) {
  list.insert(list.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

Outcome outcome_of(const Streamed& streamed) {
  return {streamed.nothing_recorded ? Exit::empty : Exit::answered, "", warning_lines(streamed.warnings), false};
}

Outcome run(const Command& command, const Options& options, const Clock& clock, const Sink& sink) {
  const Result<std::string> path = find_database(options.db);
  if (!path) return failure(Exit::failed, path.error().message);
  // What is written as it comes takes as long as it is long.
  const auto within = command.stream ? std::nullopt : std::optional(kAnswerWithin);
  Result<std::unique_ptr<Reader>> reader = Reader::open(*path, within);
  if (!reader) return failure(Exit::failed, reader.error().message);
  const Result<FileInfo> file = (*reader)->info();
  if (!file) return failure(Exit::failed, file.error().message);
  const Result<std::vector<StoredRun>> runs = (*reader)->runs();
  if (!runs) return failure(Exit::failed, runs.error().message);
  const std::int64_t now_ms = clock.now().wall_ms;
  const Result<When> when = resolve_when(options, {file->first_tick_ms, file->last_tick_ms}, now_ms);
  if (!when) return failure(when.error());

  const std::optional<Screen> screen = terminal_screen();
  const Context context{options, **reader, *file, *runs, now_ms, *when, screen};
  if (command.stream) {
    const Sink shown = [&](std::string_view text) { return sink(for_screen(std::string(text), screen)); };
    Result<Streamed> streamed = guarded(*path, [&] { return command.stream(context, screen ? shown : sink); });
    if (!streamed) return failure(streamed.error());
    if (auto why = nobody(context, std::nullopt)) {
      streamed->nothing_recorded = true;
      append(streamed->warnings, *std::move(why));
    }
    return outcome_of(*streamed);
  }
  Result<Report> report = guarded(*path, [&] { return command.run(context); });
  if (!report) return failure(command, report.error());
  const Status titled = show_names(**reader, options, report->rows);
  if (!titled) return failure(titled.error());
  if (auto why = report->rows.rows.empty() ? nobody(context, report->range) : std::nullopt) {
    report->nothing_recorded = true;
    append(report->warnings, *std::move(why));
  }
  const Asked asked{command.name, *path, runs->empty() ? std::string() : runs->back().boot.host};
  return outcome_of(asked, *report, options, screen);
}

}  // namespace

Outcome answer(const std::vector<std::string>& arguments, const Clock& clock, const Sink& sink) {
  const Result<Invocation> invocation = parse_command_line(arguments);
  if (!invocation) {
    return failure(Exit::usage, invocation.error().message);
  }
  if (invocation->version) return {Exit::answered, version_text(), "", false};
  if (invocation->help) {
    return {Exit::answered, invocation->command != nullptr ? help(*invocation->command) : help(), "",
            !invocation->options.no_pager};
  }
  const Command& command = *invocation->command;
  if (command.print) {
    const Result<std::string> text = command.print(invocation->options, commands());
    return text ? Outcome{Exit::answered, *text, "", false} : failure(text.error());
  }
  if (command.run_alone && (!command.run || !invocation->options.csv.empty()))
    return run_alone(command, invocation->options, clock);
  if (sink) return run(command, invocation->options, clock, sink);
  std::string held;
  Outcome outcome = run(command, invocation->options, clock, [&held](std::string_view text) -> Status {
    held += text;
    return Done{};
  });
  if (!held.empty()) outcome.out = std::move(held);
  return outcome;
}

}  // namespace memoir::query
