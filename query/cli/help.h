#pragma once

#include <string>

#include "query/answer/command.h"

namespace memoir::query {

// `memoir --help`, and `memoir COMMAND --help` with its two examples.
std::string help();
std::string help(const Command& command);

}  // namespace memoir::query
