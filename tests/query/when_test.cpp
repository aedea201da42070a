#include "query/args/when.h"

#include "support/catch.h"

namespace when_test {

using namespace memoir;
using namespace memoir::query;

namespace {

constexpr std::int64_t kHour = 3'600'000;
constexpr std::int64_t kNow = 1'795'166'412'000;  // 2026-11-20 09:20:12 UTC
constexpr Recorded kRecorded{kNow - 100 * kHour, kNow - kHour};

Options utc() {
  Options options;
  options.zone = Zone::utc;
  return options;
}

}  // namespace

TEST_CASE("Without a time there is neither a time nor a range") {
  const auto when = resolve_when(utc(), kRecorded, kNow);
  REQUIRE(when.ok());
  CHECK_FALSE(when->at_ms);
  CHECK_FALSE(when->range);
  CHECK(range_or_last(*when, kRecorded, kHour).from_ms == kRecorded.last_ms - kHour);
  CHECK(range_or_last(*when, kRecorded, 1000 * kHour).from_ms == kRecorded.first_ms);
}

TEST_CASE("A range counts back from the last tick") {
  Options options = utc();
  options.last = "2h";
  const auto when = resolve_when(options, kRecorded, kNow);
  REQUIRE(when.ok());
  REQUIRE(when->range);
  CHECK(when->range->to_ms == kRecorded.last_ms);
  CHECK(when->range->from_ms == kRecorded.last_ms - 2 * kHour);
}

TEST_CASE("A range that starts after the last tick ends now") {
  Options options = utc();
  options.from = "-5m";
  const auto when = resolve_when(options, kRecorded, kNow);
  REQUIRE(when.ok());
  REQUIRE(when->range);
  CHECK(when->range->from_ms == kNow - kHour / 12);
  CHECK(when->range->to_ms == kNow);
}

TEST_CASE("The option --last counts back from --to if that is given") {
  Options options = utc();
  options.last = "2h";
  options.to = "-10h";
  const auto when = resolve_when(options, kRecorded, kNow);
  REQUIRE(when.ok());
  CHECK(when->range->to_ms == kNow - 10 * kHour);
  CHECK(when->range->from_ms == kNow - 12 * kHour);
}

TEST_CASE("A future end of a range means now") {
  for (const char* ahead : {"09:25", "9:21", "2026-11-20 09:25", "2026-11-20 18:00", "today 09:25"}) {
    CAPTURE(ahead);
    Options from = utc();
    from.from = "09:00";
    from.to = ahead;
    const auto when = resolve_when(from, kRecorded, kNow);
    REQUIRE(when.ok());
    CHECK(when->range->from_ms == kNow - 20 * 60'000 - 12'000);
    CHECK(when->range->to_ms == kNow);
    Options last = utc();
    last.last = "2h";
    last.to = ahead;
    CHECK(resolve_when(last, kRecorded, kNow)->range->from_ms == kNow - 2 * kHour);
  }
  Options far = utc();
  far.to = "09:40";  // 09:40 of the previous day
  CHECK(resolve_when(far, kRecorded, kNow)->range->to_ms == kNow - 24 * kHour + 20 * 60'000 - 12'000);
  Options today = utc();
  today.from = "-30h";
  today.to = "today";
  CHECK(resolve_when(today, kRecorded, kNow)->range->to_ms == kNow - 9 * kHour - 20 * 60'000 - 12'000);
}

TEST_CASE("The option --from alone ends at the last tick, --to alone starts at the first") {
  Options from = utc();
  from.from = "-5h";
  CHECK(resolve_when(from, kRecorded, kNow)->range->to_ms == kRecorded.last_ms);
  Options to = utc();
  to.to = "-5h";
  CHECK(resolve_when(to, kRecorded, kNow)->range->from_ms == kRecorded.first_ms);
}

TEST_CASE("A day is complete, and an unfinished one ends now") {
  Options options = utc();
  options.day = "yesterday";
  const auto yesterday = resolve_when(options, kRecorded, kNow);
  REQUIRE(yesterday.ok());
  CHECK(yesterday->range->to_ms - yesterday->range->from_ms == 24 * kHour - 1);
  options.day = "today";
  CHECK(resolve_when(options, kRecorded, kNow)->range->to_ms == kNow);
}

TEST_CASE("Contradictions and reversed ranges are usage errors") {
  const auto message = [](auto set) {
    Options options = utc();
    set(options);
    const auto when = resolve_when(options, kRecorded, kNow);
    REQUIRE_FALSE(when.ok());
    CHECK(when.error().kind == ErrorKind::malformed);
    return when.error().message;
  };
  CHECK(message([](Options& o) { o.at = "now", o.last = "1h"; }).find("--at") != std::string::npos);
  CHECK(message([](Options& o) { o.at = "now", o.from = "-1h"; }).find("--at") != std::string::npos);
  CHECK(message([](Options& o) { o.day = "today", o.to = "now"; }).find("--day") != std::string::npos);
  CHECK(message([](Options& o) { o.from = "-1h", o.last = "1h"; }).find("--last") != std::string::npos);
  CHECK(message([](Options& o) { o.from = "-1h", o.to = "-2h"; }).find("before it starts") != std::string::npos);
  CHECK(message([](Options& o) { o.last = "soon"; }).find("--last") != std::string::npos);
  CHECK(message([](Options& o) { o.at = "teatime"; }).find("Times are") != std::string::npos);
  // The message starts with the option that has the invalid value.
  CHECK(message([](Options& o) { o.at = "teatime"; }).starts_with("--at: "));
  CHECK(message([](Options& o) { o.from = "teatime"; }).starts_with("--from: "));
  CHECK(message([](Options& o) { o.to = "teatime"; }).starts_with("--to: "));
  CHECK(message([](Options& o) { o.day = "teatime"; }).starts_with("--day: "));
  CHECK(message([](Options& o) { o.last = "soon"; }).starts_with("--last: "));
  CHECK(message([](Options& o) { o.from = "-1h", o.to = "-2h"; }).starts_with("--from, --to: "));
  CHECK(message([](Options& o) { o.last = "0s"; }).starts_with("--last: "));
}

TEST_CASE("A range without a duration is refused") {
  Options last = utc();
  last.last = "0s";
  CHECK_FALSE(resolve_when(last, kRecorded, kNow).ok());
  Options ends = utc();
  ends.from = ends.to = "-5h";
  CHECK_FALSE(resolve_when(ends, kRecorded, kNow).ok());
}

}  // namespace when_test
