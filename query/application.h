#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "query/render/terminal.h"
#include "query/state/command.h"

namespace memoir::query {

// Exit status of memoir.
enum class Exit : int {
  answered = 0,
  failed = 1,  // for example no file, another program's file, or a corrupt file
  usage = 2,
  empty = 3,  // answered, but nothing was recorded in the range
};

struct Outcome {
  Exit exit = Exit::answered;
  std::string out;     // text for standard output
  std::string error;   // text for standard error
  bool paged = false;  // the caller may show `out` in a pager if it is longer than the terminal
};

// Parses the command line, opens the file, runs the command and returns the rendered answer. An answer too long for
// memory goes to `sink` in pieces; without a sink, it is in `out`. `screen`: see Context.
Outcome run_query(const std::vector<std::string>& arguments, const Clock& clock, const Sink& sink = {},
                  std::optional<Screen> screen = terminal_screen());

}  // namespace memoir::query
