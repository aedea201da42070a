#pragma once

// How to add a command: make a folder query/commands/NAME with a function that returns its Command, list it in
// query/commands.cpp, and give it a paragraph in man/memoir.1 (a test checks that).
//
// `run` turns a Context into a Report, or an Error: kind malformed is the user's mistake (exit status 2; list valid
// values), any other is a failure (1). It prints nothing. Times in the Report are epoch milliseconds, sizes KiB;
// strings are as stored: the renderers make them safe.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "query/args/options.h"
#include "query/args/when.h"
#include "query/render/render.h"
#include "query/render/terminal.h"
#include "query/report/report.h"
#include "store/reader.h"

namespace memoir::query {

struct Context {
  const Options& options;
  Reader& reader;
  FileInfo file;
  std::vector<StoredRun> runs;  // all runs, the oldest first; may be empty
  std::int64_t now_ms = 0;
  When when;
  std::optional<Screen> screen;  // nullopt: the answer does not go to a terminal
};

// Takes a piece of a streamed answer. An error ends the answer.
using Sink = std::function<Status(std::string_view)>;

// Messages to show after a streamed answer.
struct Streamed {
  bool nothing_recorded = false;
  std::vector<std::string> warnings;
};

struct Command;

// A parsed command line.
struct Parsed {
  const Command* command = nullptr;
  Options options;
};

// The program around an interactive command.
struct Interaction {
  const Clock& clock;
  const std::vector<Command>& commands;
  std::function<Result<Parsed>(const std::vector<std::string>& words)> parse;
  // Renders an answer as memoir prints it into a file.
  std::function<std::string(const ReportContext&, const Report&, const Options&)> render;
};

// A word of subject_words that completions replace by the names of the categories in the file.
inline constexpr std::string_view kCategoryNames = "<category>";

struct Example {
  std::string line;
  std::string answers;
};

struct Command {
  std::string name = {};
  std::string summary = {};              // one line, for the list of commands
  std::string subject = {};              // name of its arguments in --help; empty: it takes none
  std::vector<Option> options = {};      // besides the common ones: --columns, --db, --format, --units, --utc, --color
  std::vector<std::string> by = {};      // valid for --by, the default first
  std::vector<std::string> groups = {};  // valid for --group, the default first
  std::vector<Example> examples = {};    // shown by --help; each must work
  std::function<Result<Report>(const Context&)> run = {};
  std::string step_help = {};       // description of --step in --help
  std::string limit_help = {};      // description of --limit in --help; empty: it limits rows
  std::string subject_help = {};    // "SUBJECT: what it may be", for --help
  bool subject_filters = false;     // SUBJECT selects processes, as --filter does
  std::string by_help = {};         // description of --by in --help; empty: the usual one
  bool subjects_are_files = false;  // SUBJECT is a database, instead of --db
  // Replaces run in a command that needs no readable database. A command with both uses this one for --csv and for
  // several files.
  std::function<Result<Report>(const Options&, std::int64_t now_ms)> run_alone = {};
  // Instead of run, for a command with an answer too long for memory.
  std::function<Result<Streamed>(const Context&, const Sink&)> stream = {};
  // Instead of run, for a text that needs no file; gets all commands.
  std::function<Result<std::string>(const Options&, const std::vector<Command>& commands)> print = {};
  // Instead of run, for a command that has the terminal until the user ends it. Returns the text to print then.
  std::function<Result<std::string>(const Options&, const Interaction&)> interact = {};
  // Valid for --format, the default first.
  std::vector<std::string> formats = {"table", "json", "csv", "markdown", "html"};
  std::size_t max_subjects = 1;
  std::vector<std::string> kinds = {};          // valid for --kind; empty: the kinds of events
  std::vector<std::string> subject_words = {};  // shell completions of the subject
  // Set if the command is a part of another: "memory shm". `name` is then short for it, and not in the list of
  // commands.
  std::string full_name = {};
};

inline constexpr std::string_view kDefaultCommand = "status";

// Returns all options of the command, in the order of option_texts().
std::vector<Option> options_of(const Command& command);

}  // namespace memoir::query
