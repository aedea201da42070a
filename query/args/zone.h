#pragma once

// Wall-clock fields and moments, in the local zone (TZ, with its daylight saving) or in UTC. libc does the zones: g++
// 12 has no zone database of its own.

#include <cstdint>
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

// A date and time that exists in the calendar (the clock may still skip it).
bool is_valid(const Civil& civil);

Civil to_civil(std::int64_t ms, Zone zone);

// All moments at which a clock in the zone shows `civil`, in order: two in the hour that an autumn night repeats. In
// the hour that a spring night skips, one: as far after the skip as `civil` is into it.
std::vector<std::int64_t> moments_of(const Civil& civil, Zone zone);

// Midnight of the day that is `days` after that of `civil`.
Civil start_of_day(const Civil& civil, int days = 0);

// The moments from `from_ms` to before `until_ms` at which a clock in the zone shows a multiple of `step_ms` since
// midnight; of days, every so many midnights.
std::vector<std::int64_t> round_times(std::int64_t from_ms, std::int64_t until_ms, std::int64_t step_ms, Zone zone);

// 0 Sunday … 6 Saturday.
int weekday(const Civil& civil);

// "2026-11-20 03:14:07"; in UTC with " UTC" after it.
std::string print_time(std::int64_t ms, Zone zone);
std::string print_time_of_day(std::int64_t ms, Zone zone);
// "2026-11-20 03:10:00 to 03:15:00": the second date only where it is another, and the time alone where both are the
// same.
std::string print_within(std::int64_t from_ms, std::int64_t until_ms, Zone zone);
std::string print_date(std::int64_t ms, Zone zone);  // "2026-11-20"

// `text` with each "2026-11-20 03:14:07 UTC" in it as print_time() has it in the zone.
std::string times_in_zone(std::string_view text, Zone zone);

}  // namespace memoir::query
