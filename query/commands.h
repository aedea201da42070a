#pragma once

#include <string_view>
#include <vector>

#include "query/state/command.h"

namespace memoir::query {

// All commands, in the order of --help.
const std::vector<Command>& commands();

// Returns the command with that name; nullptr if there is none.
const Command* find_command(std::string_view name);

}  // namespace memoir::query
