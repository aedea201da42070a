#include "proc/key_lines.h"

#include <limits>
#include <string>

#include "base/text.h"

namespace memoir {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::string_view kUnit = " kB";
constexpr std::string_view kBlanks = "                                ";

bool is_blank(std::string_view text) {
  return kBlanks.starts_with(text) || text.find_first_not_of(" \t") == std::string_view::npos;
}

// Parses "    1612" from its end, because most values have few digits after many blanks. Speed matters: a smaps file
// may have a million values.
std::optional<std::int64_t> parse_padded(std::string_view text) {
  constexpr std::size_t surely_fit = std::numeric_limits<std::int64_t>::digits10;
  std::size_t blanks = text.size();
  while (blanks > 0 && text[blanks - 1] >= '0' && text[blanks - 1] <= '9') --blanks;
  if (!is_blank(text.substr(0, blanks))) return std::nullopt;
  const std::string_view digits = text.substr(blanks);
  if (digits.empty() || digits.size() > surely_fit) return parse_natural(digits);
  std::int64_t value = 0;
  for (const char digit : digits) value = value * 10 + (digit - '0');
  return value;
}

}  // namespace

std::optional<std::int64_t> parse_natural(std::string_view digits) {
  const auto value = parse_number<std::uint64_t>(digits);
  if (!value || *value > static_cast<std::uint64_t>(kMost)) return std::nullopt;
  return static_cast<std::int64_t>(*value);
}

std::optional<std::int64_t> parse_hundredths(std::string_view text) {
  const std::size_t point = text.find('.');
  if (point == std::string_view::npos || text.size() != point + 3) return std::nullopt;
  const auto whole = parse_natural(text.substr(0, point));
  const auto part = parse_natural(text.substr(point + 1));
  if (!whole || !part || *whole > kMost / 100 - 1) return std::nullopt;
  return *whole * 100 + *part;
}

std::optional<std::int64_t> KeyLine::kib() const {
  if (torn || !value.ends_with(kUnit)) return std::nullopt;
  return parse_padded(value.substr(0, value.size() - kUnit.size()));
}

std::optional<std::int64_t> KeyLine::count() const {
  if (torn) return std::nullopt;
  return parse_padded(value);
}

bool is_state(std::string_view text) {
  if (text.size() != 1) return false;
  const char c = text.front();
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

Error bad_line(std::string_view file, std::string_view line) {
  return malformed(std::string(file) + ": " + not_understood(line));
}

Error nothing_known(std::string_view file) {
  return malformed(std::string(file) + ": none of its lines is known");
}

}  // namespace memoir
