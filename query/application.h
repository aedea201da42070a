#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "query/state/command.h"

namespace memoir::query {

// What memoir's exit status says.
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

// All of memoir but its writing: reads the command line, opens the file, runs the command, draws the answer. `sink`
// takes an answer that is too long to be held as it comes; without one it is in `out` too.
Outcome answer(const std::vector<std::string>& arguments, const Clock& clock, const Sink& sink = {});

}  // namespace memoir::query
