#pragma once

// Views of a command line that a pattern can look through: of the same length, one argument per line. Pure.
//
// What stands within an argument may be a command line of its own, quoted, and with another one within its quotes:
// `sh -c 'ssh host "mysql -pX"'`. Each unfold() opens it by one level: a blank outside of quotes, and the quotes around
// a word, become line ends; a backslash before a quote becomes kFiller.

#include <string>
#include <string_view>

namespace memoir {

inline constexpr std::string_view kBlanks = " \t\r\n";
inline constexpr char kFiller = '\x01';

// Opens the lines of `view` by one level. False: there was nothing to open.
bool unfold(std::string& view);

}  // namespace memoir
