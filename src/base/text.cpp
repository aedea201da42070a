#include "base/text.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>

namespace memoir {
namespace {

bool is_continuation(unsigned char c) {
  return (c & 0xC0) == 0x80;
}

// Returns the length of the valid UTF-8 sequence at the front of `text` (Unicode 15, table 3-7), 0 without one.
std::size_t sequence_length(std::string_view text) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = at(0);
  if (first < 0x80) return 1;
  std::size_t length = 0;
  unsigned char low = 0x80;
  unsigned char high = 0xBF;
  if (first >= 0xC2 && first <= 0xDF) {
    length = 2;
  } else if (first >= 0xE0 && first <= 0xEF) {
    length = 3;
    if (first == 0xE0) low = 0xA0;
    if (first == 0xED) high = 0x9F;
  } else if (first >= 0xF0 && first <= 0xF4) {
    length = 4;
    if (first == 0xF0) low = 0x90;
    if (first == 0xF4) high = 0x8F;
  }
  if (length == 0 || text.size() < length || at(1) < low || at(1) > high) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if (!is_continuation(at(i))) return 0;
  }
  return length;
}

char32_t decode(std::string_view sequence) {
  const auto at = [&](std::size_t i) { return static_cast<char32_t>(static_cast<unsigned char>(sequence[i])); };
  char32_t point = sequence.size() == 1 ? at(0) : at(0) & (0x7FU >> sequence.size());
  for (std::size_t i = 1; i < sequence.size(); ++i) point = point << 6 | (at(i) & 0x3F);
  return point;
}

struct CodePoints {
  char32_t first;
  char32_t last;
};

// Characters that move the cursor, reorder adjacent text, or are invisible, so that two names look alike: controls,
// separators and annotations, Default_Ignorable_Code_Point of Unicode 15, and blanks other than spaces.
constexpr std::array kUnsafe{CodePoints{0x00, 0x1F},       CodePoints{0x7F, 0x9F},       CodePoints{0xAD, 0xAD},
                             CodePoints{0x034F, 0x034F},   CodePoints{0x061C, 0x061C},   CodePoints{0x115F, 0x1160},
                             CodePoints{0x17B4, 0x17B5},   CodePoints{0x180B, 0x180F},   CodePoints{0x200B, 0x200F},
                             CodePoints{0x2028, 0x202E},   CodePoints{0x2060, 0x206F},   CodePoints{0x2800, 0x2800},
                             CodePoints{0x3164, 0x3164},   CodePoints{0xFE00, 0xFE0F},   CodePoints{0xFEFF, 0xFEFF},
                             CodePoints{0xFFA0, 0xFFA0},   CodePoints{0xFFF0, 0xFFFB},   CodePoints{0x1BCA0, 0x1BCA3},
                             CodePoints{0x1D159, 0x1D159}, CodePoints{0x1D173, 0x1D17A}, CodePoints{0xE0000, 0xE0FFF}};
static_assert(std::ranges::is_sorted(kUnsafe, {}, &CodePoints::first));

bool is_unsafe(char32_t c) {
  const auto* const after = std::ranges::upper_bound(kUnsafe, c, {}, &CodePoints::first);
  return after != kUnsafe.begin() && c <= std::prev(after)->last;
}

bool is_selector(char32_t c) {
  return c >= 0xFE00 && c <= 0xFE0F;
}

// U+200C, U+200D and the variation selectors are invisible, but needed after emoji and letters of the scripts from
// U+0590 (Hebrew) on. After other characters they only make two names look alike.
bool belongs_to(char32_t before, char32_t c) {
  if (c != 0x200C && c != 0x200D && !is_selector(c)) return false;
  const bool joins = before == 0x200C || before == 0x200D;
  return before >= 0x0590 && !joins && (!is_selector(before) || c == 0x200D);
}

}  // namespace

std::string_view cut(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  const std::string_view head = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  return head;
}

std::string_view cut_word(std::string_view& text) {
  const std::size_t start = std::min(text.find_first_not_of(" \t"), text.size());
  text.remove_prefix(start);
  const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end);
  return word;
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view blank = " \t\r\n";
  const std::size_t start = std::min(text.find_first_not_of(blank), text.size());
  text.remove_prefix(start);
  return text.substr(0, text.find_last_not_of(blank) + 1);
}

std::string to_lower(std::string_view text) {
  std::string lower(text);
  for (char& letter : lower) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return lower;
}

std::string to_utf8(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  while (!bytes.empty()) {
    const std::size_t length = sequence_length(bytes);
    if (length == 0) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(bytes[0]));
      bytes.remove_prefix(1);
    } else {
      out += bytes.substr(0, length);
      bytes.remove_prefix(length);
    }
  }
  return out;
}

namespace {

// Decodes an escape `xNN` that escape_bytes() writes, which is a backslash or a byte from 0x80 on; otherwise nullopt.
std::optional<char> escaped_byte(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  if (text.size() < 3 || text[0] != 'x') return std::nullopt;
  const std::size_t high = digits.find(text[1]);
  const std::size_t low = digits.find(text[2]);
  if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
  const char byte = static_cast<char>(high * 16 + low);
  return high >= 8 || byte == '\\' ? std::optional(byte) : std::nullopt;
}

}  // namespace

std::string escape_bytes(std::string_view bytes) {
  if (bytes.find('\\') == std::string_view::npos) return to_utf8(bytes);
  std::string marked;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    marked += bytes[i] == '\\' && escaped_byte(bytes.substr(i + 1)) ? "\\x5c" : std::string(1, bytes[i]);
  return to_utf8(marked);
}

std::string unescape_bytes(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = text[i] == '\\' ? escaped_byte(text.substr(i + 1)) : std::nullopt;
    bytes += byte.value_or(text[i]);
    if (byte) i += 3;
  }
  return bytes;
}

std::string to_printable(std::string_view bytes) {
  const std::string text = to_utf8(bytes);
  std::string_view utf8 = text;
  std::string out;
  out.reserve(utf8.size());
  char32_t before = 0;
  while (!utf8.empty()) {
    const std::size_t length = std::max<std::size_t>(sequence_length(utf8), 1);
    const std::string_view sequence = utf8.substr(0, length);
    const char32_t c = decode(sequence);
    const bool shown = !is_unsafe(c) || belongs_to(before, c);
    if (shown) {
      out += sequence;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c < 0x100) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned>(c));
    } else if (c > 0xFFFF) {
      out += fmt::format("\\U{:08x}", static_cast<unsigned>(c));
    } else {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    }
    before = shown ? c : 0;
    utf8.remove_prefix(length);
  }
  return out;
}

std::string not_understood(std::string_view line) {
  constexpr std::size_t max_bytes = 80;
  return fmt::format("cannot understand \"{}{}\"", to_printable(line.substr(0, max_bytes)),
                     line.size() > max_bytes ? "…" : "");
}

std::string signal_name(int signal) {
  const char* const name = ::sigabbrev_np(signal);
  return name == nullptr ? fmt::format("signal {}", signal) : fmt::format("SIG{}", name);
}

}  // namespace memoir
