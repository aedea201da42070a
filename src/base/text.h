#pragma once

// Splits texts and parses numbers, without copies or locales. Makes any bytes safe to store or to show.

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace memoir {

// Parses all of `text` as a number, or returns nullopt. Integers that are not decimal need their `base`.
template <typename Number, typename... Base>
std::optional<Number> parse_number(std::string_view text, Base... base) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, base...);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

// Splits `text` at the first `separator`: returns the part before it and keeps the part after it (empty without one).
std::string_view cut(std::string_view& text, char separator);

// Removes the next line from the front of `text`, without its newline.
inline std::string_view cut_line(std::string_view& text) {
  return cut(text, '\n');
}

// Removes the next word (separated by spaces or tabs) from the front of `text`; empty at the end.
std::string_view cut_word(std::string_view& text);

std::string_view trim(std::string_view text);

// Converts ASCII letters to lower case; all other bytes stay.
std::string to_lower(std::string_view text);

// Returns valid UTF-8 for any input: each byte that is not part of a valid sequence becomes `\xNN`.
std::string to_utf8(std::string_view bytes);

// Like to_utf8(), but reversible: a backslash that could be read as an escape of to_utf8 becomes `\x5c`. `\x2d`, as
// systemd writes it, stays.
std::string escape_bytes(std::string_view bytes);
// Reverses escape_bytes().
std::string unescape_bytes(std::string_view text);

// Returns one line that a terminal shows unchanged, for any input. Like to_utf8(), and also escapes control characters,
// newlines, direction marks (U+202A…202E, U+2066…2069, U+200E/F) and invisible characters (U+200B…D, U+3164, U+FEFF …)
// as `\n`, `\t`, `\xNN`, `\u202e`.
std::string to_printable(std::string_view bytes);

// Returns an error text: cannot understand "MemFree: -4 kB". Makes the line printable, and truncates a long one.
std::string not_understood(std::string_view line);

// Returns "SIGKILL"; "signal 99" for a number without a name.
std::string signal_name(int signal);

}  // namespace memoir
