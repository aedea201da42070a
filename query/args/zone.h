#pragma once

// Converts between wall-clock fields and epoch times, in the local zone (TZ, with its daylight saving) or in UTC. Zones
// come from libc: g++ 12 has no zone database of its own.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace memoir::query {

enum class Zone { local, utc };

struct Civil {
  int year = 1970;
  int month = 1;
  int day = 1;
  int hour = 0;
  int minute = 0;
  int second = 0;

  bool operator==(const Civil&) const = default;
};

// Returns the file that TZ names if libc must not read it: a FIFO would block, and a device would never end. Returns
// nullopt for other files, or if TZ names none.
std::optional<std::string> odd_zone_file();

// Returns whether a date and time exists in the calendar (the clock may still skip it).
bool is_valid(const Civil& civil);

Civil to_civil(std::int64_t ms, Zone zone);

// Returns all times at which a clock in the zone shows `civil`, in order: two in the repeated hour of an autumn night.
// For the skipped hour of a spring night, returns one time: it is as far after the skip as `civil` is into the hour.
std::vector<std::int64_t> moments_of(const Civil& civil, Zone zone);

// Returns the midnight at the start of the day of `civil`, or of the day `days` days later.
Civil start_of_day(const Civil& civil, int days = 0);

// Returns the times from `from_ms` to before `until_ms` at which a clock in the zone shows a multiple of `step_ms`
// since midnight. For a step of n days, returns every nth midnight.
std::vector<std::int64_t> round_times(std::int64_t from_ms, std::int64_t until_ms, std::int64_t step_ms, Zone zone);

// Returns 0 for Sunday … 6 for Saturday.
int weekday(const Civil& civil);

// "2026-11-20 03:14:07"; in UTC followed by " UTC".
std::string format_time(std::int64_t ms, Zone zone);
std::string format_time_of_day(std::int64_t ms, Zone zone);
// "2026-11-20 03:10:00 to 03:15:00". The second date is left out if it equals the first. Two equal times give one time.
std::string format_within(std::int64_t from_ms, std::int64_t until_ms, Zone zone);
std::string format_date(std::int64_t ms, Zone zone);  // "2026-11-20"

// Replaces each "2026-11-20 03:14:07 UTC" in `text` by format_time() in the zone.
std::string times_in_zone(std::string_view text, Zone zone);

}  // namespace memoir::query
