#pragma once

#include <string>

#include "query/state/command.h"

namespace memoir::query {

// Return the text of `memoir --help`, and of `memoir COMMAND --help` with its examples.
std::string help();
std::string help(const Command& command);

}  // namespace memoir::query
