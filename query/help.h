#pragma once

#include <string>

#include "query/state/command.h"

namespace memoir::query {

// `memoir --help`, and `memoir COMMAND --help` with its two examples.
std::string help();
std::string help(const Command& command);

}  // namespace memoir::query
