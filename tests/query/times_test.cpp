#include "query/args/times.h"

#include "query/zone_guard.h"
#include "support/catch.h"

namespace times_test {

using namespace memoir;
using namespace memoir::query;
using memoir::test::kBerlin;
using memoir::test::ZoneGuard;

namespace {

// Returns a UTC time in epoch milliseconds.
std::int64_t at(int year, int month, int day, int hour, int minute, int second = 0) {
  return moments_of({year, month, day, hour, minute, second}, Zone::utc).front();
}

}  // namespace

TEST_CASE("Times are read in the local zone") {
  const ZoneGuard zone(kBerlin);
  // Friday 2026-11-20 12:00 in Berlin.
  const std::int64_t now = at(2026, 11, 20, 11, 0);
  struct Example {
    const char* text;
    std::int64_t expected;
  };
  const Example example = GENERATE_COPY(
      // absolute
      Example{"2026-11-20 03:14", at(2026, 11, 20, 2, 14)}, Example{"2026-11-20 03:14:07", at(2026, 11, 20, 2, 14, 7)},
      Example{"2026-11-20T03:14:07", at(2026, 11, 20, 2, 14, 7)}, Example{"2026-07-01 03:14", at(2026, 7, 1, 1, 14)},
      Example{"2026-11-20", at(2026, 11, 19, 23, 0)}, Example{"2024-02-29", at(2024, 2, 28, 23, 0)},
      // RFC 3339
      Example{"2026-11-20T03:14:07Z", at(2026, 11, 20, 3, 14, 7)},
      Example{"2026-11-20T03:14:07.250Z", at(2026, 11, 20, 3, 14, 7) + 250},
      Example{"2026-11-20T03:14:07.2504999Z", at(2026, 11, 20, 3, 14, 7) + 250},
      Example{"2026-11-20T03:14:07+05:30", at(2026, 11, 19, 21, 44, 7)},
      Example{"2026-11-20 03:14:07-0800", at(2026, 11, 20, 11, 14, 7)},
      // as --utc prints it
      Example{"2026-11-20 03:14:07 UTC", at(2026, 11, 20, 3, 14, 7)}, Example{"03:14 UTC", at(2026, 11, 20, 3, 14)},
      Example{"2026-11-20 UTC", at(2026, 11, 20, 0, 0)}, Example{"11:01:00 UTC", at(2026, 11, 19, 11, 1)},
      // time of day: its last occurrence in the past
      Example{"03:14", at(2026, 11, 20, 2, 14)}, Example{"3:14", at(2026, 11, 20, 2, 14)},
      Example{"12:00", at(2026, 11, 20, 11, 0)}, Example{"12:01", at(2026, 11, 19, 11, 1)},
      Example{"23:59:59", at(2026, 11, 19, 22, 59, 59)},
      // days
      Example{"today", at(2026, 11, 19, 23, 0)}, Example{"yesterday", at(2026, 11, 18, 23, 0)},
      Example{"yesterday 03:14", at(2026, 11, 19, 2, 14)},
      Example{"yesterday 03:14:07.250", at(2026, 11, 19, 2, 14, 7) + 250},
      Example{"today 18:00", at(2026, 11, 20, 17, 0)}, Example{"Yesterday 3:14", at(2026, 11, 19, 2, 14)},
      Example{"monday", at(2026, 11, 15, 23, 0)}, Example{"mon 03:14", at(2026, 11, 16, 2, 14)},
      Example{"friday", at(2026, 11, 19, 23, 0)}, Example{"friday 11:00", at(2026, 11, 20, 10, 0)},
      Example{"friday 13:00", at(2026, 11, 13, 12, 0)}, Example{"saturday", at(2026, 11, 13, 23, 0)},
      // relative and epoch
      Example{"now", now}, Example{"-2h", now - 2 * 3600 * 1000}, Example{"-3d", now - 3 * 86400 * 1000LL},
      Example{"-1h30m", now - 5400 * 1000}, Example{"-1w", now - 7 * 86400 * 1000LL},
      Example{"10 minutes ago", now - 600'000}, Example{"10min", now - 600'000},
      Example{"1 hour ago", now - 3600 * 1000}, Example{"an hour ago", now - 3600 * 1000},
      Example{"2 Days ago", now - 2 * 86400 * 1000LL}, Example{"1h30m ago", now - 5400 * 1000},
      Example{"90 secs ago", now - 90'000}, Example{"1.5 weeks ago", now - 7 * 129600 * 1000LL},
      Example{"-500ms", now - 500}, Example{"@1795166412", 1795166412000}, Example{"@1795166412345", 1795166412345},
      Example{"  03:14 ", at(2026, 11, 20, 2, 14)});
  CAPTURE(example.text);
  const auto result = parse_time(example.text, now, Zone::local);
  REQUIRE(result.ok());
  CHECK(*result == example.expected);
}

TEST_CASE("Times are read in UTC on request") {
  const ZoneGuard zone(kBerlin);
  const std::int64_t now = at(2026, 11, 20, 11, 0);
  CHECK(*parse_time("2026-11-20 03:14", now, Zone::utc) == at(2026, 11, 20, 3, 14));
  CHECK(*parse_time("today", now, Zone::utc) == at(2026, 11, 20, 0, 0));
  CHECK(*parse_time("11:30", now, Zone::utc) == at(2026, 11, 19, 11, 30));
}

TEST_CASE("A spring night skips an hour") {
  const ZoneGuard zone(kBerlin);
  // 2026-03-29: 02:00 CET is 03:00 CEST.
  const std::int64_t noon = at(2026, 3, 29, 10, 0);
  CHECK(*parse_time("01:59", noon, Zone::local) == at(2026, 3, 29, 0, 59));
  CHECK(*parse_time("03:00", noon, Zone::local) == at(2026, 3, 29, 1, 0));
  CHECK(*parse_time("02:30", noon, Zone::local) == at(2026, 3, 29, 1, 30));
  const auto day = parse_day("today", noon, Zone::local);
  REQUIRE(day.ok());
  CHECK(day->end_ms - day->begin_ms == 23 * 3600 * 1000);
  CHECK(*parse_time("yesterday 12:00", noon, Zone::local) == at(2026, 3, 28, 11, 0));
}

TEST_CASE("An autumn night repeats an hour") {
  const ZoneGuard zone(kBerlin);
  // 2026-10-25: 03:00 CEST is 02:00 CET; 02:30 occurs at 00:30 and at 01:30 UTC.
  const std::int64_t noon = at(2026, 10, 25, 11, 0);
  CHECK(moments_of({2026, 10, 25, 2, 30, 0}, Zone::local) ==
        std::vector<std::int64_t>{at(2026, 10, 25, 0, 30), at(2026, 10, 25, 1, 30)});
  CHECK(*parse_time("02:30", noon, Zone::local) == at(2026, 10, 25, 1, 30));
  // Between the two times, only the first is in the past.
  CHECK(*parse_time("02:30", at(2026, 10, 25, 1, 0), Zone::local) == at(2026, 10, 25, 0, 30));
  CHECK(*parse_time("2026-10-25 02:30", noon, Zone::local) == at(2026, 10, 25, 0, 30));
  CHECK(*parse_time("2026-10-25T02:30:00+01:00", noon, Zone::local) == at(2026, 10, 25, 1, 30));
  const auto day = parse_day("2026-10-25", noon, Zone::local);
  REQUIRE(day.ok());
  CHECK(day->end_ms - day->begin_ms == 25 * 3600 * 1000);
}

TEST_CASE("The error for text that is not a time shows the valid forms") {
  const std::int64_t now = at(2026, 11, 20, 11, 0);
  const char* text =
      GENERATE("", " ", "noon", "3", "25:00", "03:60", "03:14:60", "03:14:", "03:14:07.", "3:1", "2026-11-31",
               "2026-13-01", "2026-11-20 24:00", "2026-11-20T03:14:07+24:00", "2026-11-20T03:14Zjunk", "26-11-20",
               "yesterday noon", "mondays", "now 03:14", "-", "-2", "-2x", "--2h", "@", "@-5", "@1.5",
               "@99999999999999999999", "-99999999d", "03:14 yesterday", "ago", "10 ago", "minutes ago",
               "10 parsecs ago", "-10 minutes ago", "10", "10  minutes  ago x", "10 minutesago");
  CAPTURE(text);
  const auto result = parse_time(text, now, Zone::utc);
  REQUIRE_FALSE(result.ok());
  CHECK(result.error().kind == ErrorKind::malformed);
  CHECK(result.error().message.find("yesterday") != std::string::npos);
}

TEST_CASE("Hostile text in a time cannot reach the terminal") {
  const auto result = parse_time("\x1b[2J\xff", 0, Zone::utc);
  REQUIRE_FALSE(result.ok());
  CHECK(result.error().message.find('\x1b') == std::string::npos);
  CHECK(result.error().message.find('\xff') == std::string::npos);
}

TEST_CASE("Civil time and back, over years in zones with summer time, and in those farthest from UTC") {
  constexpr std::int64_t half_hour_ms = 1'800'000;
  for (const char* const name : {kBerlin, "LHST-10:30LHDT-11,M10.1.0,M4.1.0", "FAR-14", "FAR12"}) {
    CAPTURE(name);
    const ZoneGuard zone(name);
    for (std::int64_t ms = at(2025, 1, 1, 0, 0); ms < at(2027, 1, 1, 0, 0); ms += 1'234'567) {
      const std::int64_t second = ms / 1000 * 1000;
      const Civil shown = to_civil(ms, Zone::local);
      std::vector<std::int64_t> same;
      for (int i = -4; i <= 4; ++i) {
        if (to_civil(second + i * half_hour_ms, Zone::local) == shown) same.push_back(second + i * half_hour_ms);
      }
      REQUIRE(moments_of(shown, Zone::local) == same);
    }
  }
}

TEST_CASE("UTC times in sentences are shown in the time zone") {
  const test::ZoneGuard zone(test::kBerlin);
  const std::string text = "from 2026-11-19 23:30:00 UTC to 2026-07-01 10:00:00 UTC: killed";
  CHECK(times_in_zone(text, Zone::local) == "from 2026-11-20 00:30:00 to 2026-07-01 12:00:00: killed");
  CHECK(times_in_zone(text, Zone::utc) == text);
  CHECK(times_in_zone("2026-11-19 23:30:00 CET", Zone::local) == "2026-11-19 23:30:00 CET");
  CHECK(times_in_zone("2026-99-19 23:30:00 UTC", Zone::local) == "2026-99-19 23:30:00 UTC");
}

}  // namespace times_test
