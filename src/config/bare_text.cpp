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
      return at + closing.size();
    }
  }
  return text.size();
}

}  // namespace

std::optional<std::size_t> line_beyond_ascii(std::string_view toml) {
  // A byte order mark is allowed.
  std::size_t at = toml.starts_with("\xef\xbb\xbf") ? 3 : 0;
  while (at < toml.size()) {
    const char c = toml[at];
    if (static_cast<unsigned char>(c) >= 0x80) {
      return static_cast<std::size_t>(std::count(toml.begin(), toml.begin() + static_cast<std::ptrdiff_t>(at), '\n')) +
             1;
    }
    if (c == '"' || c == '\'') {
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
