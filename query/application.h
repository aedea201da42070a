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
  failed = 1,  // no file, not ours, corrupt
  usage = 2,
  empty = 3,  // answered, but nothing was recorded in the range
};

struct Outcome {
  Exit exit = Exit::answered;
  std::string out;     // for standard output
  std::string error;   // for standard error
  bool paged = false;  // `out` may go through a pager, if it is long and for a terminal
};

// All of memoir except writing: reads the command line, opens the file, runs the command, renders the result. `sink`
// gets a result that is too long for memory in pieces; without a sink it is in `out`, too. `screen`: see Context.
Outcome run_query(const std::vector<std::string>& arguments, const Clock& clock, const Sink& sink = {},
                  std::optional<Screen> screen = terminal_screen());

}  // namespace memoir::query
