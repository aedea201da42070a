#pragma once

// Text for a shell's command line.

#include <string>
#include <string_view>

namespace memoir::query {

// As one quoted word, with apostrophes as 'it'\''s'.
std::string in_single_quotes(std::string_view text);

// As typed or copied: unchanged, in quotes if required, and as $'a\nb' (bash, zsh, ksh) if a terminal cannot show it.
std::string shell_word(std::string_view text);

// The same for a file, so that no program takes it for an option.
std::string shell_path(std::string_view path);

}  // namespace memoir::query
