#pragma once

// Text for a shell's command line.

#include <string>
#include <string_view>

namespace memoir::query {

// As one word, whatever is in it but an apostrophe's own quotes: 'it'\''s'.
std::string in_single_quotes(std::string_view text);

// As a person types or copies it: as it is, in quotes where it must be, and as $'a\nb' (bash, zsh, ksh) where a
// terminal cannot show it.
std::string shell_word(std::string_view text);

// The same of a file, which no program takes for an option.
std::string shell_path(std::string_view path);

}  // namespace memoir::query
