#pragma once

// Completion for shells, made from the list of commands and options. The build installs what `memoir completion SHELL`
// prints.

#include <string>
#include <string_view>
#include <vector>

#include "query/state/command.h"

namespace memoir::query {

// What may follow the option of that command; empty where it is for the user to know.
std::vector<std::string> words_for(Option option, const Command& command);

// What the scripts are made of: "category=" …, the commands with help, and whether an option names a file or a folder.
std::vector<std::string> filter_words();
std::vector<std::string> command_names(const std::vector<Command>& commands);
bool is_file(Option option);

// How the option may be written, in full first; and what stands for a choice of it that the command has: "--json".
std::vector<std::string> spellings_for(Option option);
std::vector<std::string> short_forms(const Command& command);

// A line of shell that prints the categories of the file, one a line: only names that no shell takes for more than a
// word or several. What comes from a file is never run, and never offered where it could be.
inline constexpr std::string_view kPrintCategories =
    "memoir categories --limit 0 --format csv 2>/dev/null | "
    "sed -n '2,$s|^[^\"]*,\\([[:alnum:]_.:@+/][[:alnum:] _.:@+/-]*\\)$|\\1|p'";

std::string bash_completion(const std::vector<Command>& commands);
std::string zsh_completion(const std::vector<Command>& commands);
std::string fish_completion(const std::vector<Command>& commands);

}  // namespace memoir::query
