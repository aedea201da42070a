#pragma once

// Text for a shell's command line.

#include <string>
#include <string_view>

namespace memoir::query {

// Returns one word in single quotes, with an apostrophe as in 'it'\''s'.
std::string in_single_quotes(std::string_view text);

// Returns a word to type or copy: unchanged, in quotes if required, or as $'a\nb' (bash, zsh, ksh) if a terminal cannot
// show it.
std::string shell_word(std::string_view text);

// Like shell_word(), for a path. If it starts with "-", "./" is put in front, so that no program takes it for an
// option.
std::string shell_path(std::string_view path);

}  // namespace memoir::query
