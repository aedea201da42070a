#pragma once

// From argv to a command and its options, by CLI11. A word that is not known is malformed and names the nearest.

#include <string>
#include <vector>

#include "base/result.h"
#include "query/state/command.h"

namespace memoir::query {

struct Invocation {
  const Command* command = nullptr;  // null: help or version of the whole
  Options options;
  bool help = false;
  bool version = false;
};

// `arguments` without the program's name.
Result<Invocation> parse_command_line(const std::vector<std::string>& arguments);

}  // namespace memoir::query
