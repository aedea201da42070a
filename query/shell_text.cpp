#include "query/shell_text.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"
#include "query/layout.h"

namespace memoir::query {
namespace {

bool is_plain(char c) {
  constexpr std::string_view harmless = "%+,-./:=@_";
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || harmless.find(c) != std::string_view::npos ||
         static_cast<unsigned char>(c) >= 0x80;
}

}  // namespace

std::string in_single_quotes(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

std::string shell_word(std::string_view utf8) {
  if (showable(to_printable(utf8)) == utf8) {
    return !utf8.empty() && std::all_of(utf8.begin(), utf8.end(), is_plain) ? std::string(utf8)
                                                                            : in_single_quotes(utf8);
  }
  std::string escaped;
  for (const char c : utf8) {
    if (c == '\\' || c == '\'') escaped += '\\';
    escaped += c;
  }
  return "$'" + showable(to_printable(escaped)) + "'";
}

}  // namespace memoir::query
