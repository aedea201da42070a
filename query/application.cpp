#include "query/application.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>

#include "base/text.h"
#include "base/version.h"
#include "query/args/database_path.h"
#include "query/command_line.h"
#include "query/commands.h"
#include "query/cpu_alarm.h"
#include "query/help.h"
#include "query/render/render.h"
#include "query/render/terminal.h"
#include "query/report/columns.h"
#include "query/session/session.h"
#include "store/sqlite/database.h"

namespace memoir::query {
namespace {

// CPU time beyond kAnswerWithin at which the alarm ends the program. SQLite statements stop earlier, at kAnswerWithin,
// with their own error.
constexpr std::chrono::milliseconds kAlarmAfter{1'000};

// Makes each line of a message printable: text from an argument, a path or the file must not affect the terminal.
Outcome failure(Exit exit, std::string_view message) {
  std::string lines = "memoir: ";
  while (!message.empty()) lines += to_printable(cut_line(message)) + '\n';
  return {exit, "", std::move(lines), false};
}

Outcome failure(const Error& error) {
  return failure(error.kind == ErrorKind::malformed ? Exit::usage : Exit::failed, error.message);
}

// A subject without recorded data gives Exit::empty, like a time without a tick.
Outcome failure(const Command& command, const Error& error) {
  if (error.kind == ErrorKind::not_found && !command.subject.empty()) return failure(Exit::empty, error.message);
  return failure(error);
}

std::string version_text() {
  return fmt::format("memoir {} ({}), SQLite {}\n", version(), version_commit(), sqlite_version());
}

// Escapes control characters in text that goes to a terminal. Other characters, and text for a file or a pipe, are
// unchanged.
std::string for_screen(std::string text, const std::optional<Screen>& screen) {
  if (!screen) return text;
  std::string out;
  for (std::string_view rest = text; !rest.empty();) out += to_printable(cut_line(rest)) + '\n';
  return out;
}

// Renders a table of fewer than `lines` lines: leaves out the last sections, and then the charts or the last lines of
// text, until it fits.
std::string fitting_table(const ReportContext& asked, Report report, const Presentation& presentation,
                          std::size_t lines) {
  const auto fits = [lines](std::string_view text) {
    return static_cast<std::size_t>(std::ranges::count(text, '\n')) < lines;
  };
  std::string text = render_table(asked, report, presentation);
  if (fits(text)) return text;
  report.notes.push_back(fmt::format("More: memoir {}", asked.command));
  while (!fits(text) && !(report.sections.empty() && report.drawing.empty())) {
    if (!report.sections.empty()) {
      report.sections.pop_back();
    } else if (report.charts.empty()) {
      report.drawing.pop_back();  // drops one line of text
    } else {
      report.drawing.clear();
    }
    text = render_table(asked, report, presentation);
  }
  return text;
}

std::string render(const ReportContext& asked, const Report& report, const Options& options,
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
  const bool color = options.color == Color::automatic ? terminal_has_color() : options.color == Color::always;
  const auto asked_for = columns_asked();
  const auto width = screen ? std::optional(screen->columns) : asked_for ? asked_for : report.width;
  const Presentation presentation{options.zone, options.units, color, width, options.ascii};
  return screen && screen->fit ? fitting_table(asked, report, presentation, screen->lines)
                               : render_table(asked, report, presentation);
}

std::string warning_lines(const std::vector<std::string>& warnings) {
  std::string lines;
  for (const std::string& warning : warnings) lines += fmt::format("memoir: {}\n", to_printable(warning));
  return lines;
}

Outcome outcome_of(const ReportContext& asked, const Report& report, const Options& options,
                   const std::optional<Screen>& screen) {
  if (report.not_notable) return {Exit::empty, "", "", false};
  Outcome outcome{Exit::answered, render(asked, report, options, screen), "", !options.no_pager};
  if (report.nothing_recorded) outcome.exit = Exit::empty;
  if (report.failed) outcome.exit = Exit::failed;
  // JSON contains the warnings; CSV has no place for them.
  if (options.format == Format::csv) outcome.error = warning_lines(report.warnings);
  if (!is_data_format(options.format)) return outcome;
  outcome.error += warning_lines(report.left_out);
  if (options.format == Format::csv) return outcome;  // CSV has no sections
  for (const Section& section : report.sections) {
    for (const std::string& sentence : section.left_out)
      outcome.error += warning_lines({fmt::format("{}: {}", section.name, sentence)});
  }
  return outcome;
}

Outcome run_alone(const Command& command, const Options& options, const Clock& clock,
                  const std::optional<Screen>& screen) {
  Result<Report> report = command.run_alone(options, clock.now().wall_ms);
  if (!report) return failure(report.error());
  if (!options.columns.empty()) {
    const Status chosen = choose_columns(options.columns, is_data_format(options.format), report->rows);
    if (!chosen) return failure(chosen.error());
  }
  const Result<std::string> path = options.csv.empty() ? find_database(options.db) : Result<std::string>(std::string());
  return outcome_of({command.name, path ? *path : options.db, ""}, *report, options, screen);
}

Outcome outcome_of(const Streamed& streamed) {
  return {streamed.nothing_recorded ? Exit::empty : Exit::answered, "", warning_lines(streamed.warnings), false};
}

Outcome run(const Command& command, const Options& options, const Clock& clock, const Sink& sink,
            const std::optional<Screen>& screen) {
  const Result<std::string> path = find_database(options.db);
  if (!path) return failure(Exit::failed, path.error().message);
  const bool writes_file = std::ranges::find(command.options, Option::output) != command.options.end();
  std::optional<CpuAlarm> alarm;
  if (!writes_file) alarm.emplace(*path, kAnswerWithin + kAlarmAfter);
  Result<Session> session = Session::open(*path);
  if (!session) return failure(Exit::failed, session.error().message);
  const std::int64_t now_ms = clock.now().wall_ms;
  if (command.stream) {
    const Sink shown = [&](std::string_view text) { return sink(for_screen(std::string(text), screen)); };
    const Result<Streamed> streamed = session->stream(command, options, now_ms, screen, screen ? shown : sink);
    return streamed ? outcome_of(*streamed) : failure(command, streamed.error());
  }
  const Result<Report> report = session->ask(command, options, now_ms, screen);
  return report ? outcome_of(session->asked(command), *report, options, screen) : failure(command, report.error());
}

// Parses a command line typed inside an interactive command.
Result<Parsed> parse_words(const std::vector<std::string>& words) {
  const Invocation invocation = TRY(parse_command_line(words));
  if (invocation.help || invocation.version || invocation.command == nullptr)
    return Error{ErrorKind::malformed, "--help and --version work only in a shell"};
  return Parsed{invocation.command, invocation.options};
}

}  // namespace

Outcome run_query(const std::vector<std::string>& arguments, const Clock& clock, const Sink& sink,
                  std::optional<Screen> screen) {
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
  if (command.interact) {
    const Result<std::string> text = command.interact(
        invocation->options,
        {clock, commands(), parse_words, [](const ReportContext& asked, const Report& report, const Options& options) {
           return render(asked, report, options, std::nullopt);
         }});
    return text ? Outcome{Exit::answered, *text, "", false} : failure(text.error());
  }
  const bool other_files =
      !invocation->options.csv.empty() || (command.subjects_are_files && !invocation->options.subjects.empty());
  if (command.run_alone && (!command.run || other_files)) return run_alone(command, invocation->options, clock, screen);
  if (sink) return run(command, invocation->options, clock, sink, screen);
  std::string held;
  const Sink hold = [&held](std::string_view text) -> Status {
    held += text;
    return Done{};
  };
  Outcome outcome = run(command, invocation->options, clock, hold, screen);
  if (!held.empty()) outcome.out = std::move(held);
  return outcome;
}

}  // namespace memoir::query
