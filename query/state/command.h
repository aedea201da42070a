#pragma once

// How a command plugs in: make a folder query/commands/NAME with a function that returns its Command, list it in
// query/commands.cpp, and give it a paragraph in man/memoir.1 (a test checks that).
//
// `run` turns a Context into a Report, or an Error: kind malformed is the user's word (exit status 2; show what is
// valid), any other is a failure (1). It prints nothing. Times in the Report are epoch milliseconds, sizes KiB; strings
// are as stored: the renderers make them safe.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "query/args/options.h"
#include "query/args/when.h"
#include "query/render/terminal.h"
#include "query/report/report.h"
#include "store/reader.h"

namespace memoir::query {

struct Context {
  const Options& options;
  Reader& reader;
  FileInfo file;
  std::vector<StoredRun> runs;  // in order; possibly none
  std::int64_t now_ms = 0;
  When when;
  std::optional<Screen> screen;  // absent: the answer does not go to a terminal
};

// Takes a piece of an answer that is written as it comes. An error ends the answer.
using Sink = std::function<Status(std::string_view)>;

// What is to be said once an answer is written.
struct Streamed {
  bool nothing_recorded = false;
  std::vector<std::string> warnings;
};

// In a list of words: the names of the categories that the file has.
inline constexpr std::string_view kCategoryNames = "<category>";

struct Example {
  std::string line;
  std::string answers;
};

struct Command {
  std::string name = {};
  std::string summary = {};              // one line, for the list of commands
  std::string subject = {};              // how --help calls its arguments; empty: it takes none
  std::vector<Option> options = {};      // beside those that all take: --db, --format, --units, --utc, --no-color
  std::vector<std::string> by = {};      // valid for --by, the default first
  std::vector<std::string> groups = {};  // valid for --group, the default first
  std::vector<Example> examples = {};    // two that work
  std::function<Result<Report>(const Context&)> run = {};
  std::string step_help = {};     // what --help says of --step
  std::string limit_help = {};    // and of --limit, where it is not of rows
  std::string subject_help = {};  // "SUBJECT: what it may be", for --help
  std::string by_help = {};       // what --help says of --by; empty: that the rows are ranked by it
  // Instead of run, for a command that has something to say without a file that can be read; beside run, for what --csv
  // asks.
  std::function<Result<Report>(const Options&, std::int64_t now_ms)> run_alone = {};
  // Instead of run, for a command whose answer is too long to be held.
  std::function<Result<Streamed>(const Context&, const Sink&)> stream = {};
  // Instead of run, for a text that needs no file; told all the commands that there are.
  std::function<Result<std::string>(const Options&, const std::vector<Command>& commands)> print = {};
  std::vector<std::string> formats = {"table", "json", "csv"};  // valid for --format, the default first
  std::size_t most_subjects = 1;
  std::vector<std::string> kinds = {};          // valid for --kind, of other things than events
  std::vector<std::string> subject_words = {};  // that a shell completes for the subject
};

inline constexpr std::string_view kDefaultCommand = "status";

// All the options that the command takes, in the order of option_texts().
std::vector<Option> options_of(const Command& command);

}  // namespace memoir::query
