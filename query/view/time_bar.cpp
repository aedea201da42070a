#include "query/view/time_bar.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fmt/format.h>
#include <iterator>
#include <string_view>

#include "query/args/times.h"
#include "query/view/cells_of.h"

namespace memoir::query::view {
namespace {

constexpr std::int64_t kSecond = 1000;
constexpr std::int64_t kMinute = 60 * kSecond;
constexpr std::array kWidths{1 * kSecond, 2 * kSecond, 5 * kSecond, 10 * kSecond, 20 * kSecond, 30 * kSecond,
                             1 * kMinute, 2 * kMinute, 5 * kMinute, 10 * kMinute, 20 * kMinute, 30 * kMinute,
                             1 * kHourMs, 2 * kHourMs, 4 * kHourMs, 12 * kHourMs, kDayMs};

// Letters of events, the most severe first.
constexpr std::string_view kLetters = "Kk!RB^sc";

struct KindLetter {
  std::string_view kind;
  char letter;
};
constexpr std::array kKindLetters{
    KindLetter{"oom-kill", 'K'}, KindLetter{"oom-victim", 'K'}, KindLetter{"killed", 'k'},  KindLetter{"killer", 'k'},
    KindLetter{"alert", '!'},    KindLetter{"limit", '!'},      KindLetter{"restart", 'R'}, KindLetter{"burst", 'B'},
    KindLetter{"boot", '^'},     KindLetter{"clock-step", 'c'}};

// "03:14"; with seconds if columns are narrow, with a date if they are wide.
std::string axis_time(std::int64_t ms, std::int64_t width_ms, Zone zone) {
  const Civil at = to_civil(ms, zone);
  if (width_ms >= kDayMs) return fmt::format("{:02}-{:02}", at.month, at.day);
  if (width_ms < kMinute && at.second != 0) return fmt::format("{:02}:{:02}:{:02}", at.hour, at.minute, at.second);
  if (at.hour == 0 && at.minute == 0) return fmt::format("{:02}-{:02}", at.month, at.day);
  return fmt::format("{:02}:{:02}", at.hour, at.minute);
}

}  // namespace

std::int64_t column_start(std::int64_t ms, std::int64_t width_ms, Zone zone) {
  if (width_ms < kDayMs / 2) return ms - (ms % width_ms + width_ms) % width_ms;
  const std::int64_t midnight = moments_of(start_of_day(to_civil(ms, zone)), zone).front();
  return midnight + (ms - midnight) / width_ms * width_ms;
}

std::int64_t bar_width(std::int64_t min_ms) {
  const auto* const width = std::ranges::find_if(kWidths, [min_ms](std::int64_t ms) { return ms >= min_ms; });
  return width == kWidths.end() ? kWidths.back() : *width;
}

std::optional<std::int64_t> next_width(std::int64_t width_ms, int direction, std::int64_t min_ms) {
  const auto at = std::ranges::find(kWidths, width_ms) - kWidths.begin() + direction;
  if (at < 0 || at >= static_cast<std::ptrdiff_t>(kWidths.size())) return std::nullopt;
  const std::int64_t next = kWidths.at(static_cast<std::size_t>(at));
  return next < min_ms ? std::nullopt : std::optional(next);
}

void center_on(TimeBar& bar, std::int64_t at_ms, std::int64_t last_ms, Zone zone) {
  const auto span_ms = bar.width_ms * static_cast<std::int64_t>(bar.count);
  const std::int64_t end_ms = std::min(at_ms + span_ms / 2, std::max(last_ms, at_ms));
  bar.from_ms = column_start(column_start(end_ms, bar.width_ms, zone) - span_ms + bar.width_ms, bar.width_ms, zone);
  clear_columns(bar);
}

void clear_columns(TimeBar& bar) {
  bar.open_ms = bar.from_ms;
  for (auto* const columns : {&bar.columns, &bar.pressure}) columns->clear();
  clear_process(bar);
}

void clear_process(TimeBar& bar) {
  bar.process_open_ms = bar.from_ms;
  bar.process.clear();
}

void complete_before(TimeBar& bar, std::int64_t ms) {
  bar.open_ms = ms;
  if (!bar.process.empty()) bar.process_open_ms = ms;
}

void show_time(TimeBar& bar, std::int64_t at_ms, std::int64_t last_ms, Zone zone) {
  if (bar.count == 0 || bar.holds(at_ms)) return;
  // While following, the bar usually moves by one column.
  if (at_ms >= bar.until_ms() && at_ms - bar.until_ms() < bar.width_ms) {
    bar.from_ms += bar.width_ms;
    bar.open_ms = bar.process_open_ms = bar.from_ms;
    for (auto* const columns : {&bar.columns, &bar.pressure, &bar.process}) {
      if (columns->empty()) continue;
      columns->erase(columns->begin());
      columns->emplace_back();
    }
    return;
  }
  center_on(bar, at_ms, last_ms, zone);
}

void update_columns(const TimeBar& bar, const Report& trend, std::int64_t open_ms, std::vector<BarColumn>& columns) {
  const auto open = static_cast<std::int64_t>(bar.column_of(open_ms));
  columns.resize(static_cast<std::size_t>(open));
  columns.resize(bar.count);
  const Cells cells(trend.rows);
  const bool shares = cells.has("mean_percent");
  for (std::size_t row = 0; row < trend.rows.rows.size(); ++row) {
    const auto from_ms = cells.integer(row, "from_ms");
    const auto until_ms = cells.integer(row, "until_ms");
    if (!from_ms || !until_ms || *until_ms <= *from_ms) continue;
    BarColumn column;
    column.mean = cells.number(row, shares ? "mean_percent" : "mean_kib");
    const auto max = cells.number(row, shares ? "max_percent" : "max_kib");
    column.max = max ? max : column.mean;
    column.max_at_ms = cells.integer(row, "max_at_ms");
    // A rollup bucket may be wider than a column of the bar.
    const std::int64_t first = std::max((*from_ms - bar.from_ms) / bar.width_ms, open);
    const std::int64_t last =
        std::min((*until_ms - 1 - bar.from_ms) / bar.width_ms, static_cast<std::int64_t>(bar.count) - 1);
    if (*until_ms <= bar.from_ms) continue;
    for (std::int64_t at = first; at <= last; ++at) columns[static_cast<std::size_t>(at)] = column;
  }
}

std::vector<Letter> letters_of(const Report& events) {
  std::vector<Letter> letters;
  const Cells cells(events.rows);
  for (std::size_t row = 0; row < events.rows.rows.size(); ++row) {
    const auto at = cells.number(row, "at_ms");
    if (!at) continue;
    const std::string kind = cells.text(row, "kind");
    const auto* const known = std::ranges::find(kKindLetters, kind, &KindLetter::kind);
    const char letter = known == kKindLetters.end() ? 's' : known->letter;
    letters.push_back({letter, static_cast<std::int64_t>(*at), cells.text(row, "text"), kind == "oom-kill"});
  }
  std::ranges::stable_sort(letters, {}, &Letter::at_ms);
  return letters;
}

void update_letters(TimeBar& bar, const Report& events) {
  std::erase_if(bar.letters, [&bar](const Letter& letter) { return letter.at_ms >= bar.open_ms; });
  if (bar.open_ms == bar.from_ms) bar.letters.clear();
  std::ranges::move(letters_of(events), std::back_inserter(bar.letters));
}

bool is_kill(const Letter& letter) {
  return letter.letter == 'K' || letter.letter == 'k';
}

std::string short_kill(std::string_view text) {
  constexpr std::string_view start = "The OOM killer killed ";
  constexpr std::string_view cgroup = "the cgroup ";
  std::string rest(text.substr(text.starts_with(start) ? start.size() : 0));
  for (std::size_t at = rest.find(cgroup); at != std::string::npos; at = rest.find(cgroup, at)) {
    const std::size_t end = std::min(rest.find_first_of(" ;,", at + cgroup.size()), rest.size());
    const std::size_t name = rest.rfind('/', end);
    if (name == std::string::npos || name < at || name + 1 == end) {
      at += cgroup.size();
      continue;
    }
    rest.erase(at, name + 1 - at);
  }
  // Moves "…; shop.service was at its limit of 128.0 MiB" directly after the victim, as " at its limit of 128.0 MiB".
  constexpr std::string_view limited = " was at its limit";
  const std::size_t limit = rest.find(limited);
  const std::size_t clause = limit == std::string::npos ? limit : rest.rfind("; ", limit);
  if (clause == std::string::npos) return rest;
  const std::size_t end = std::min(rest.find(';', limit), rest.size());
  const std::string at_limit = " at" + rest.substr(limit + limited.substr(0, 7).size(), end - limit - 7);
  rest.erase(clause, end - clause);
  return rest.insert(std::min(rest.find(';'), rest.size()), at_limit);
}

std::string letter_text(const Letter& letter, Zone zone) {
  const std::string text = is_kill(letter) ? short_kill(letter.text) : letter.text;
  return fmt::format("{} {} {}", format_time_of_day(letter.at_ms, zone), letter.letter, times_in_zone(text, zone));
}

std::vector<Letter> kills_of(const std::vector<Letter>& letters, std::int64_t interval_ms) {
  std::vector<Letter> kills;
  for (const Letter& letter : letters) {
    if (!is_kill(letter)) continue;
    const auto is_victim = [&](const Letter& other) {
      return is_kill(other) && !other.counts && other.at_ms <= letter.at_ms &&
             other.at_ms >= letter.at_ms - interval_ms;
    };
    if (!letter.counts || std::ranges::none_of(letters, is_victim)) kills.push_back(letter);
  }
  return kills;
}

std::string letters_by_column(const TimeBar& bar) {
  std::string text(bar.count, ' ');
  for (std::size_t column = 0; column < std::min(bar.count, bar.columns.size()); ++column) {
    if (!bar.columns[column].mean) text[column] = '.';
  }
  for (const Letter& letter : bar.letters) {
    if (!bar.holds(letter.at_ms)) continue;
    char& shown = text[bar.column_of(letter.at_ms)];
    if (kLetters.find(letter.letter) < kLetters.find(shown)) shown = letter.letter;
  }
  return text;
}

std::vector<AxisTime> axis_times(const TimeBar& bar, Zone zone) {
  constexpr std::array steps{5 * kSecond, 10 * kSecond, 15 * kSecond, 30 * kSecond, 1 * kMinute,
                             2 * kMinute, 5 * kMinute,  10 * kMinute, 15 * kMinute, 30 * kMinute,
                             1 * kHourMs, 2 * kHourMs,  3 * kHourMs,  6 * kHourMs,  12 * kHourMs,
                             kDayMs,      2 * kDayMs,   7 * kDayMs,   14 * kDayMs,  28 * kDayMs};
  constexpr std::int64_t apart = 12;
  const auto* const step = std::ranges::find_if(
      steps, [&bar](std::int64_t ms) { return ms >= apart * bar.width_ms && ms % bar.width_ms == 0; });
  std::vector<AxisTime> times;
  if (step == steps.end()) return times;
  std::size_t next = 0;
  for (const std::int64_t at_ms : round_times(bar.from_ms, bar.until_ms(), *step, zone)) {
    const std::size_t column = bar.column_of(at_ms);
    std::string text = axis_time(at_ms, bar.width_ms, zone);
    if (column < next || column + 1 + text.size() > bar.count) continue;
    next = column + text.size() + 2;
    times.push_back({column, std::move(text)});
  }
  return times;
}

}  // namespace memoir::query::view
