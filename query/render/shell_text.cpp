#include "query/render/shell_text.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"
#include "query/render/layout.h"

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
  for (const char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

std::string shell_word(std::string_view text) {
  if (showable(to_printable(text)) == text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), is_plain) ? std::string(text)
                                                                            : in_single_quotes(text);
  }
  std::string escaped;
  for (const char c : text) {
    if (c == '\\' || c == '\'') escaped += '\\';
    escaped += c;
  }
  return "$'" + showable(to_printable(escaped)) + "'";
}

std::string shell_path(std::string_view path) {
  return shell_word(path.starts_with('-') ? "./" + std::string(path) : std::string(path));
}

}  // namespace memoir::query
