#pragma once

// Views of a command line for pattern matching. A view has the length of the command line, and one argument per line.
// Pure.
//
// An argument may itself be a quoted command line with another one within its quotes: `sh -c 'ssh host "mysql -pX"'`.
// Each unfold() opens one level: blanks outside of quotes, and the quotes around a word, become line ends; a backslash
// before a quote becomes kFiller.

#include <string>
#include <string_view>

namespace memoir {

inline constexpr std::string_view kBlanks = " \t\r\n";
inline constexpr char kFiller = '\x01';

// Opens the lines of `view` by one level. Returns false if there was nothing to open.
bool unfold(std::string& view);

}  // namespace memoir
