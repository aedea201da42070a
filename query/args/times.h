#pragma once

// Parses times as users write them: "03:14", "yesterday 03:14", "-2h", "2026-11-20T03:14:07Z" … Pure: the current time
// and the zone are parameters.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "query/args/zone.h"

namespace memoir::query {

// The accepted forms of a time, shown in help and errors.
inline constexpr std::string_view kTimeForms =
    "2026-11-20 03:14[:07], 2026-11-20, 03:14 (the most recent), today, yesterday, monday (each with a time or "
    "without), now, -2h, -1h30m, -3d, 10 minutes ago, @1795166412 (s or ms), 2026-11-20T03:14:07+01:00";

// One-word forms, for shell completion.
const std::vector<std::string>& time_words();

// Returns milliseconds since the epoch. Unreadable text is malformed, and the message shows the forms.
Result<std::int64_t> parse_time(std::string_view text, std::int64_t now_ms, Zone zone);

// Parses seconds or milliseconds since the epoch, as after "@"; nullopt for other text.
std::optional<std::int64_t> parse_epoch(std::string_view text);

// Like parse_time(), but for the end of a range: a time of day up to kAheadMs in the future is today's, not
// yesterday's.
inline constexpr std::int64_t kAheadMs = 15 * 60'000;
Result<std::int64_t> parse_end(std::string_view text, std::int64_t now_ms, Zone zone);

inline constexpr std::int64_t kHourMs = 3'600'000;
inline constexpr std::int64_t kDayMs = 24 * kHourMs;  // in UTC; a local day may have 23 or 25 hours

struct Day {
  std::int64_t begin_ms = 0;  // midnight
  std::int64_t end_ms = 0;    // the next midnight: 23, 24 or 25 hours later

  bool holds(std::int64_t ms) const { return ms >= begin_ms && ms < end_ms; }
};

// Returns the day this many days earlier.
Day day_before(const Day& day, int days, Zone zone);

// Parses a time and returns the day that contains it.
Result<Day> parse_day(std::string_view text, std::int64_t now_ms, Zone zone);

}  // namespace memoir::query
