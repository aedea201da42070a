#pragma once

// memoir watch COMMAND: shows its answer on one screen, again after each tick, until the user interrupts it.

#include <string>
#include <vector>

#include "query/application.h"
#include "query/render/terminal.h"

namespace memoir::query {

// Returns COMMAND with its options, if `arguments` request watching it: "watch top", "top -w".
std::optional<std::vector<std::string>> watched_command(const std::vector<std::string>& arguments);

// Returns the text that replaces the previous answer on the screen. If lines do not fit, the last line gives their
// number.
std::string screen_of(const std::string& answer, const Screen& screen);

// Ends with a failed answer, or when `write` fails. Needs a terminal on standard output.
Outcome watch(const std::vector<std::string>& command, const Clock& clock, const Sink& write);

}  // namespace memoir::query
