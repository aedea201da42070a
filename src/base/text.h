#pragma once

// Splitting and numbers, without copies or locales; and what makes any bytes safe to store or to show.

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace memoir {

// The whole of `text` as a number, or nothing. `base`: of a whole number that is not decimal.
template <typename Number, typename... Base>
std::optional<Number> parse_number(std::string_view text, Base... base) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, base...);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

// Cuts `text` at the first `separator`: what is before it, and `text` keeps what is after it (nothing, if there is
// none).
std::string_view cut(std::string_view& text, char separator);

// Takes the next line off the front of `text`, without its newline.
inline std::string_view cut_line(std::string_view& text) {
  return cut(text, '\n');
}

// Takes the next word (separated by spaces or tabs) off the front of `text`; empty at the end.
std::string_view cut_word(std::string_view& text);

std::string_view trim(std::string_view text);

// Valid UTF-8, whatever comes in: each byte that is not part of a valid sequence becomes `\xNN`.
std::string to_utf8(std::string_view bytes);

// One line that a terminal shows as it is, of whatever comes in: to_utf8, and control characters, escapes, newlines,
// direction marks (U+202A…202E, U+2066…2069, U+200E/F) and what shows nothing at all (U+200B…D, U+3164, U+FEFF …)
// become `\n`, `\t`, `\xNN`, `\u202e`.
std::string to_printable(std::string_view bytes);

// "SIGKILL"; "signal 99" of one without a name.
std::string signal_name(int signal);

}  // namespace memoir
