#pragma once

// Shell completion, generated from the list of commands and options. The build installs the output of `memoir
// completion SHELL`.

#include <string>
#include <string_view>
#include <vector>

#include "query/state/command.h"

namespace memoir::query {

// Returns the possible values of a command's option; empty if they are free text.
std::vector<std::string> words_for(Option option, const Command& command);

// The parts of the scripts: "category=" …, the commands with help, and whether an option names a file or a folder.
std::vector<std::string> filter_words();
std::vector<std::string> command_names(const std::vector<Command>& commands);
bool is_file(Option option);

// Returns the option's option_aliases, the full one first, and aliases for its choices in this command: "--json".
std::vector<std::string> spellings_for(Option option);
std::vector<std::string> short_forms(const Command& command);

// A line of shell that prints the categories of the file, one per line: only names without shell syntax. Text from a
// file is never run, and never offered where it could be.
inline constexpr std::string_view kPrintCategories =
    "memoir categories --limit 0 --format csv 2>/dev/null | "
    "sed -n '2,$s|^[^\"]*,\\([[:alnum:]_.:@+/][[:alnum:] _.:@+/-]*\\)$|\\1|p'";

std::string bash_completion(const std::vector<Command>& commands);
std::string zsh_completion(const std::vector<Command>& commands);
std::string fish_completion(const std::vector<Command>& commands);

}  // namespace memoir::query
