#include "collect/vmmap/ps.h"

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/text.h"
#include "proc/key_lines.h"

namespace memoir {
namespace {

constexpr std::array<std::string_view, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                   "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

template <typename Int>
bool take_number(std::string_view& line, Int& into) {
  const auto number = parse_number<Int>(cut_word(line));
  into = number.value_or(0);
  return number.has_value();
}

// Parses a time such as "12:42:56", in seconds. 60 seconds are valid, for a leap second.
std::optional<std::int64_t> parse_clock(std::string_view text) {
  const auto hours = parse_number<unsigned>(cut(text, ':'));
  const auto minutes = parse_number<unsigned>(cut(text, ':'));
  const auto seconds = parse_number<unsigned>(text);
  if (!hours || !minutes || !seconds || *hours > 23 || *minutes > 59 || *seconds > 60) return std::nullopt;
  return static_cast<std::int64_t>(*hours) * 3600 + *minutes * 60 + *seconds;
}

// Parses a start time such as "Sun Nov 22 12:42:56 2026" from the front of the line.
std::optional<std::int64_t> take_start_ms(std::string_view& line) {
  cut_word(line);
  const auto month = std::ranges::find(kMonths, cut_word(line)) - kMonths.begin();
  const auto day = parse_number<unsigned>(cut_word(line));
  const auto seconds = parse_clock(cut_word(line));
  const auto year = parse_number<std::int16_t>(cut_word(line));
  if (!day || !seconds || !year) return std::nullopt;
  const std::chrono::year_month_day date(std::chrono::year(*year), std::chrono::month(static_cast<unsigned>(month) + 1),
                                         std::chrono::day(*day));
  if (!date.ok()) return std::nullopt;
  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  return (days * 86'400 + *seconds) * 1000;
}

// Returns the state, which is the first letter: "Ss+", "R<".
char state_of(std::string_view word) {
  if (word.empty()) return '?';
  return word.front() == 'U' ? 'D' : word.front();
}

}  // namespace

Result<PsProcess> parse_ps_line(std::string_view line) {
  const std::string_view whole = line;
  PsProcess process;
  std::int64_t uid = 0;  // macOS prints -2 for the user nobody
  const bool numbers = take_number(line, process.pid) && take_number(line, process.parent_pid) &&
                       take_number(line, process.group) && take_number(line, uid);
  process.uid = static_cast<std::uint32_t>(uid);
  process.user = cut_word(line);
  process.state = state_of(cut_word(line));
  const auto start_ms = take_start_ms(line);
  if (!numbers || process.pid < 0 || !is_state({&process.state, 1}) || !start_ms) return bad_line("ps", whole);
  process.start_ms = *start_ms;
  process.command = trim(line);
  return process;
}

}  // namespace memoir
