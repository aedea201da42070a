#include "config/bare_text.h"

#include <algorithm>

namespace memoir {
namespace {

// Where a string that begins at the front of `text` ends: after its closing quotes; or with its line, or the text, if
// they are missing.
std::size_t string_end(std::string_view text) {
  const char quote = text.front();
  const bool long_one = text.size() >= 3 && text[1] == quote && text[2] == quote;
  const std::string_view closing = text.substr(0, long_one ? 3 : 1);
  for (std::size_t at = closing.size(); at < text.size(); ++at) {
    if (quote == '"' && text[at] == '\\') {
      ++at;
    } else if (text[at] == '\n' && !long_one) {
      return at;
    } else if (text.substr(at).starts_with(closing)) {
      at += closing.size();
      // A long one may have quotes as its last characters.
      const std::size_t others = std::min(text.find_first_not_of(quote, at), text.size()) - at;
      return at + std::min<std::size_t>(others, long_one ? 2 : 0);
    }
  }
  return text.size();
}

bool is_part_of_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

// Where what begins as a number at `at` ends; `at` if none does. toml++ reads one through quotes, up to what may follow
// a value.
std::size_t number_end(std::string_view toml, std::size_t at) {
  const bool begins = std::string_view("+-0123456789").find(toml[at]) != std::string_view::npos;
  if (!begins || (at > 0 && is_part_of_word(toml[at - 1]))) return at;
  return std::min(toml.find_first_of(" \t\n\v\f\r]},#", at), toml.size());
}

}  // namespace

std::optional<std::size_t> line_beyond_ascii(std::string_view toml) {
  // A byte order mark is allowed.
  std::size_t at = toml.starts_with("\xef\xbb\xbf") ? 3 : 0;
  std::size_t number_until = at;
  while (at < toml.size()) {
    const char c = toml[at];
    if (static_cast<unsigned char>(c) >= 0x80) {
      return static_cast<std::size_t>(std::count(toml.begin(), toml.begin() + static_cast<std::ptrdiff_t>(at), '\n')) +
             1;
    }
    if (at >= number_until) number_until = number_end(toml, at);
    if ((c == '"' || c == '\'') && at >= number_until) {
      at += string_end(toml.substr(at));
    } else if (c == '#') {
      at = std::min(toml.find('\n', at), toml.size());
    } else {
      ++at;
    }
  }
  return std::nullopt;
}

}  // namespace memoir
