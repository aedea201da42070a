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

// Return parts of the scripts: the words that start a filter ("category=" …), the commands including "help", and
// whether the value of an option is a file or a folder.
std::vector<std::string> filter_words();
std::vector<std::string> command_names(const std::vector<Command>& commands);
bool is_file(Option option);

// Return the spellings of an option, the full name first, and the command's short forms of --format: "--json".
std::vector<std::string> spellings_for(Option option);
std::vector<std::string> short_forms(const Command& command);

// A line of shell that prints the categories of the file, one per line. It omits names with shell syntax: a shell must
// never run text from a file.
inline constexpr std::string_view kPrintCategories =
    "memoir categories --limit 0 --format csv 2>/dev/null | "
    "sed -n '2,$s|^[^\"]*,\\([[:alnum:]_.:@+/][[:alnum:] _.:@+/-]*\\)$|\\1|p'";

std::string bash_completion(const std::vector<Command>& commands);
std::string zsh_completion(const std::vector<Command>& commands);
std::string fish_completion(const std::vector<Command>& commands);

}  // namespace memoir::query
