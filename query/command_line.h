#pragma once

// Parses argv into a command and its options, by CLI11. An unknown word is malformed, and the message names the most
// similar one.

#include <string>
#include <vector>

#include "base/result.h"
#include "query/state/command.h"

namespace memoir::query {

struct Invocation {
  const Command* command = nullptr;  // nullptr: help or version of memoir itself
  Options options;
  bool help = false;
  bool version = false;
};

// `arguments` does not include the program's name.
Result<Invocation> parse_command_line(const std::vector<std::string>& arguments);

}  // namespace memoir::query
