#pragma once

// Reads the times that people write: "03:14", "yesterday 03:14", "-2h", "2026-11-20T03:14:07Z" … Pure: the present
// moment and the zone are parameters.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "query/args/zone.h"

namespace memoir::query {

// The forms, for help and errors.
inline constexpr std::string_view kTimeForms =
    "2026-11-20 03:14[:07], 2026-11-20, 03:14 (the last one past), today, yesterday, monday (each with a time or "
    "without), now, -2h, -1h30m, -3d, 10 minutes ago, @1795166412 (s or ms), 2026-11-20T03:14:07+01:00";

// Those that are one word, for a shell to complete.
const std::vector<std::string>& time_words();

// Milliseconds since the epoch. What cannot be read is malformed, and the message shows the forms.
Result<std::int64_t> parse_time(std::string_view text, std::int64_t now_ms, Zone zone);

// The same of the end of a range: a time of day that is at most this far ahead is today's, and not that of yesterday.
inline constexpr std::int64_t kAheadMs = 15 * 60'000;
Result<std::int64_t> parse_end(std::string_view text, std::int64_t now_ms, Zone zone);

inline constexpr std::int64_t kHourMs = 3'600'000;
inline constexpr std::int64_t kDayMs = 24 * kHourMs;  // of UTC

struct Day {
  std::int64_t begin_ms = 0;  // midnight
  std::int64_t end_ms = 0;    // the next midnight: 23, 24 or 25 hours later

  bool holds(std::int64_t ms) const { return ms >= begin_ms && ms < end_ms; }
};

// The one that is so many days before it.
Day day_before(const Day& day, int days, Zone zone);

// The day that a time lies in.
Result<Day> parse_day(std::string_view text, std::int64_t now_ms, Zone zone);

}  // namespace memoir::query
