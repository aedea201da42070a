#pragma once

// Names of commands, options and values in other programs, and their equivalents in memoir.

#include <optional>
#include <string_view>

namespace memoir::query {

// The equivalent command, "memoir process SUBJECT" for "show"; nullopt if there is none.
std::optional<std::string_view> command_meant(std::string_view word);

// The equivalents of an option of `command`, "--at T" for "--time"; nullopt if there are none. They are separated by
// ", ", and may be options that the command lacks.
std::optional<std::string_view> option_meant(std::string_view name, std::string_view command);

// Hint for a word that is not a subject, "; the subject of all memory is 'machine'" for "memory"; empty if there is
// none.
std::string_view subject_hint(std::string_view word);

// The equivalent value of an option, "unit" for "service"; nullopt if there is none.
std::optional<std::string_view> choice_meant(std::string_view word);

}  // namespace memoir::query
