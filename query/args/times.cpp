#include "query/args/times.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <optional>
#include <string>

#include "base/text.h"
#include "config/config.h"

namespace memoir::query {
namespace {

constexpr std::int64_t kLastMs = 253'402'300'799'999;  // the end of the year 9999

// Smaller numbers are seconds: 10^11 s is in the year 5138, 10^11 ms in 1973.
constexpr std::int64_t kFirstMilliseconds = 100'000'000'000;

constexpr std::array<std::string_view, 7> kDays{"sunday",   "monday", "tuesday", "wednesday",
                                                "thursday", "friday", "saturday"};

using MaybeMs = std::optional<std::int64_t>;

// Removes exactly `digits` digits from the front.
std::optional<int> take_number(std::string_view& text, std::size_t digits) {
  if (text.size() < digits) return std::nullopt;
  const std::string_view number = text.substr(0, digits);
  if (!std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; })) return std::nullopt;
  text.remove_prefix(digits);
  return parse_number<int>(number);
}

bool take(std::string_view& text, char wanted) {
  if (text.empty() || text.front() != wanted) return false;
  text.remove_prefix(1);
  return true;
}

// Removes "2026-11-20" from the front of `text`, into the date of `civil`.
bool take_date(std::string_view& text, Civil& civil) {
  std::string_view rest = text;
  const auto year = take_number(rest, 4);
  if (!year || !take(rest, '-')) return false;
  const auto month = take_number(rest, 2);
  if (!month || !take(rest, '-')) return false;
  const auto day = take_number(rest, 2);
  if (!day) return false;
  civil.year = *year;
  civil.month = *month;
  civil.day = *day;
  text = rest;
  return true;
}

// Removes "03:14", "03:14:07" or "03:14:07.250" from the front of `text`; the hour may have one digit.
bool take_clock(std::string_view& text, Civil& civil, int& millisecond) {
  std::string_view rest = text;
  auto hour = take_number(rest, 2);
  if (!hour) hour = take_number(rest, 1);
  if (!hour || !take(rest, ':')) return false;
  const auto minute = take_number(rest, 2);
  if (!minute) return false;
  civil.hour = *hour;
  civil.minute = *minute;
  if (take(rest, ':')) {
    const auto second = take_number(rest, 2);
    if (!second) return false;
    civil.second = *second;
    int scale = 100;
    if (take(rest, '.')) {
      if (rest.empty() || rest.front() < '0' || rest.front() > '9') return false;
      while (const auto digit = take_number(rest, 1)) {
        millisecond += *digit * scale;
        scale /= 10;
      }
    }
  }
  text = rest;
  return true;
}

// Removes "Z", "+01:00" or "-0530" from the front of `text`. Returns minutes east of Greenwich.
std::optional<int> take_offset(std::string_view& text) {
  if (take(text, 'Z') || take(text, 'z')) return 0;
  const bool west = !text.empty() && text.front() == '-';
  if (!take(text, '-') && !take(text, '+')) return std::nullopt;
  const auto hours = take_number(text, 2);
  take(text, ':');
  const auto minutes = take_number(text, 2);
  if (!hours || !minutes || *hours > 23 || *minutes > 59) return std::nullopt;
  return (west ? -1 : 1) * (*hours * 60 + *minutes);
}

MaybeMs in_zone(const Civil& civil, int millisecond, Zone zone) {
  if (!is_valid(civil)) return std::nullopt;
  return moments_of(civil, zone).front() + millisecond;
}

MaybeMs parse_absolute(std::string_view text, Zone zone) {
  Civil civil;
  int millisecond = 0;
  if (!take_date(text, civil)) return std::nullopt;
  if (text.empty()) return in_zone(civil, 0, zone);
  if (!take(text, ' ') && !take(text, 'T') && !take(text, 't')) return std::nullopt;
  text = trim(text);
  if (!take_clock(text, civil, millisecond)) return std::nullopt;
  text = trim(text);
  if (text.empty()) return in_zone(civil, millisecond, zone);
  const auto offset = take_offset(text);
  if (!offset || !text.empty()) return std::nullopt;
  const MaybeMs utc = in_zone(civil, millisecond, Zone::utc);
  return utc ? MaybeMs(*utc - *offset * std::int64_t{60'000}) : std::nullopt;
}

// Returns how many days ago the day named by `word` was (a weekday: 0 to 6); nullopt for other words.
std::optional<int> days_back(std::string_view word, const Civil& today) {
  if (word == "today") return 0;
  if (word == "yesterday") return 1;
  for (int day = 0; day < 7; ++day) {
    const std::string_view name = kDays[static_cast<std::size_t>(day)];
    if (word == name || word == name.substr(0, 3)) return (weekday(today) - day + 7) % 7;
  }
  return std::nullopt;
}

// Returns a time of day on the day `back` days ago. If that is after now, returns it on the day `step` days earlier,
// unless `step` is 0.
MaybeMs clock_on(const Civil& today, int back, int step, std::string_view clock, std::int64_t now_ms, Zone zone) {
  Civil civil = start_of_day(today, -back);
  int millisecond = 0;
  if (!clock.empty() && (!take_clock(clock, civil, millisecond) || !clock.empty())) return std::nullopt;
  if (!is_valid(civil)) return std::nullopt;
  std::vector<std::int64_t> moments = moments_of(civil, zone);
  if (step == 0) return moments.front() + millisecond;
  // In the repeated hour of an autumn night, returns the later time if it is past.
  std::reverse(moments.begin(), moments.end());
  for (const std::int64_t moment : moments) {
    if (moment + millisecond <= now_ms) return moment + millisecond;
  }
  const Civil earlier = start_of_day(civil, -step);
  civil.year = earlier.year;
  civil.month = earlier.month;
  civil.day = earlier.day;
  return moments_of(civil, zone).back() + millisecond;
}

MaybeMs parse_relative(std::string_view text, std::int64_t now_ms) {
  const auto duration = parse_duration(text);
  return duration ? MaybeMs(now_ms - duration->count()) : std::nullopt;
}

// Parses "10 minutes ago", "an hour ago", "2h ago", "1h30m ago" and git's "5.minutes.ago".
MaybeMs parse_ago(std::string_view given, std::int64_t now_ms) {
  std::string words(given);
  if (given.ends_with(".ago")) std::ranges::replace(words, '.', ' ');
  std::string_view text = words;
  constexpr std::string_view ago = " ago";
  if (!text.ends_with(ago)) return std::nullopt;
  text.remove_suffix(ago.size());
  std::string_view unit = text;
  const std::string_view number = cut_word(unit);
  const bool one = number == "a" || number == "an";
  return parse_relative(one ? fmt::format("1{}", trim(unit)) : std::string(text), now_ms);
}

MaybeMs parse_words(std::string_view text, std::int64_t now_ms, Zone zone) {
  const std::string lower = to_lower(text);
  if (lower == "now") return now_ms;
  if (const MaybeMs before = parse_ago(lower, now_ms)) return before;
  const Civil today = to_civil(now_ms, zone);
  std::string_view rest = lower;
  const std::string_view word = cut_word(rest);
  rest = trim(rest);
  if (const auto back = days_back(word, today)) {
    const bool named_day = word == "today" || word == "yesterday";
    return clock_on(today, *back, named_day ? 0 : 7, rest, now_ms, zone);
  }
  if (!rest.empty()) return std::nullopt;
  const MaybeMs clock = clock_on(today, 0, 1, word, now_ms, zone);
  return clock ? clock : parse_relative(word, now_ms);  // "5m", as in journalctl --since
}

// Removes "UTC", which format_time() appends, from the end. Returns whether it was there.
bool take_utc_mark(std::string_view& text) {
  if (!text.ends_with("UTC") && !text.ends_with("utc")) return false;
  text = trim(text.substr(0, text.size() - 3));
  return true;
}

bool is_time_of_day(std::string_view text) {
  Civil civil;
  int millisecond = 0;
  take_utc_mark(text);
  return take_clock(text, civil, millisecond) && text.empty();
}

MaybeMs parse_any(std::string_view text, std::int64_t now_ms, Zone zone) {
  if (text.empty()) return std::nullopt;
  if (text.front() == '@') return parse_epoch(text.substr(1));
  if (text.front() == '-') return parse_relative(text.substr(1), now_ms);
  if (take_utc_mark(text)) zone = Zone::utc;
  if (const MaybeMs absolute = parse_absolute(text, zone)) return absolute;
  return parse_words(text, now_ms, zone);
}

}  // namespace

std::optional<std::int64_t> parse_epoch(std::string_view text) {
  const auto number = parse_number<std::int64_t>(text);
  if (!number || *number < 0) return std::nullopt;
  return *number < kFirstMilliseconds ? *number * 1000 : *number;
}

Result<std::int64_t> parse_time(std::string_view text, std::int64_t now_ms, Zone zone) {
  const MaybeMs moment = parse_any(trim(text), now_ms, zone);
  if (moment && *moment >= 0 && *moment <= kLastMs) return *moment;
  return malformed(fmt::format("'{}' is not a time. Times are: {}", to_printable(text), kTimeForms));
}

Result<std::int64_t> parse_end(std::string_view text, std::int64_t now_ms, Zone zone) {
  return parse_time(text, is_time_of_day(trim(text)) ? now_ms + kAheadMs : now_ms, zone);
}

Result<Day> parse_day(std::string_view text, std::int64_t now_ms, Zone zone) {
  const std::int64_t moment = TRY(parse_time(text, now_ms, zone));
  const Civil day = to_civil(moment, zone);
  return Day{moments_of(start_of_day(day), zone).front(), moments_of(start_of_day(day, 1), zone).front()};
}

Day day_before(const Day& day, int days, Zone zone) {
  const Civil date = to_civil(day.begin_ms, zone);
  const auto midnight = [&](int back) { return moments_of(start_of_day(date, -back), zone).front(); };
  return {midnight(days), midnight(days - 1)};
}

const std::vector<std::string>& time_words() {
  static const std::vector<std::string> words{"now",       "today",    "yesterday", "monday",   "tuesday",
                                              "wednesday", "thursday", "friday",    "saturday", "sunday"};
  return words;
}

}  // namespace memoir::query
