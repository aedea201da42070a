#pragma once

// Errors for words of a command line that memoir does not know. Each suggests what to type: the equivalent of another
// program's word, or the most similar one.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "query/state/command.h"

namespace memoir::query {

std::string in_quotes(std::string_view word);

// Returns whether the option has a value: true for "--at", false for a flag and for other words.
bool takes_value(std::string_view argument);

// `arguments` are the other words of the command line.
Error unknown_command(const std::string& name, const std::vector<std::string>& arguments);

// Returns the first unknown option among the arguments; nullopt if there is none.
std::optional<std::string> unknown_option(const std::vector<std::string>& arguments);

// Returns the error for an option or an argument that the command does not take.
Error unknown_argument(const std::string& argument, const Command& command);

// Returns the error for an unknown option, or for more arguments than the command takes.
Error too_much(const std::vector<std::string>& extra, const Command& command);

}  // namespace memoir::query
