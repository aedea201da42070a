#include "config/config.h"
#include "support/catch.h"

using namespace memoir;
using namespace std::chrono_literals;

TEST_CASE("durations are a number and a unit") {
  CHECK(*parse_duration("500ms") == 500ms);
  CHECK(*parse_duration("10s") == 10s);
  CHECK(*parse_duration("1.5m") == 90s);
  CHECK(*parse_duration("0.1s") == 100ms);
  CHECK(*parse_duration("1h") == 1h);
  CHECK(*parse_duration("2d") == 48h);
  CHECK(*parse_duration("0s") == 0ms);
  CHECK(*parse_duration("1w") == 7 * 24h);
  CHECK(*parse_duration("1h30m") == 90min);
  CHECK(*parse_duration("1w2d3h4m5s6ms") == 9 * 24h + 3h + 4min + 5s + 6ms);
  CHECK(*parse_duration("1.5h0.5m") == 90min + 30s);
  CHECK(*parse_duration("5min") == 5min);
  CHECK(*parse_duration("10sec") == 10s);
  CHECK(*parse_duration("2 hours") == 2h);
  CHECK(*parse_duration("1 day 30 minutes") == 24h + 30min);
  CHECK(*parse_duration("1h 30m") == 90min);
}

TEST_CASE("other text than a duration is refused, and the formats are shown") {
  for (const char* text : {"", "s", " 10s", "-1s", "+1s", "1e3s", "0x10s", "inf s", "nan", "10S", "10 parsecs", "1mss",
                           "30m1h", "1h1h", "1h30", "-1h30m", ".5s", "1..5s"}) {
    INFO("text: '" << text << "'");
    const auto parsed = parse_duration(text);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().kind == ErrorKind::malformed);
    CHECK_THAT(parsed.error().message, test::ContainsSubstring("500ms, 10s, 1.5m, 1h"));
  }
}

TEST_CASE("a number alone could be seconds or minutes") {
  CHECK(parse_duration("300").error().message == "'300' has no unit: 300s is seconds, 300m minutes");
}

TEST_CASE("too large a duration is refused") {
  CHECK_THAT(parse_duration("99999999999999999999d").error().message, test::ContainsSubstring("too long"));
  CHECK_THAT(parse_duration("0.1ms").error().message, test::ContainsSubstring("shorter than 1ms"));
  CHECK_FALSE(parse_duration(std::string(1000, '9') + "s"));
}

TEST_CASE("a wrong duration is shown as text, with any bytes") {
  CHECK_THAT(parse_duration("\x1b[2J\xff").error().message, Catch::Matchers::StartsWith("'\\x1b[2J\\xff' is not"));
  CHECK_THAT(parse_duration("0.1ms5\x1b").error().message, test::ContainsSubstring("'0.1ms5\\x1b' is shorter"));
}

TEST_CASE("a printed duration is the shortest exact one and reads back") {
  CHECK(format_duration(10s) == "10s");
  CHECK(format_duration(90s) == "90s");
  CHECK(format_duration(60s) == "1m");
  CHECK(format_duration(1500ms) == "1500ms");
  CHECK(format_duration(24h) == "1d");
  CHECK(format_duration(0ms) == "0s");
  for (const auto duration : {1ms, 999ms, 1000ms, 61'000ms, 3'600'000ms, 86'400'001ms}) {
    CHECK(*parse_duration(format_duration(duration)) == duration);
  }
}
