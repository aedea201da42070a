// --against compares a range with an earlier one, in diff and trend. Also diff of a SUBJECT.

#include <nlohmann/json.hpp>

#include "query/args/when.h"
#include "query/ask.h"
#include "query/on_screen.h"
#include "support/catch.h"

namespace against_test {

using namespace memoir;
using namespace memoir::query;
using memoir::test::has;
using memoir::test::History;
using memoir::test::recorded;

namespace {

constexpr std::int64_t kMib = 1024;
constexpr std::int64_t kDay = 24 * History::kHour;
constexpr int kTicksOfHour = 60;

// Two days: api grows from 200 MiB to 300 MiB at midnight, and cron runs from 06:00 to 12:00 on the second day.
void record_two_days(History& history) {
  history.begin_run();
  history.machine(4000 * kMib);
  history.birth(10, {"db", "/usr/bin/db", "database", "postgres", "/system.slice/db.service"}, 100 * kMib);
  history.birth(11, {"api", "/usr/bin/api", "web", "app", "/system.slice/api.service"}, 200 * kMib);
  history.tick(24 * kTicksOfHour);
  history.machine(4200 * kMib);
  history.hold(11, 300 * kMib);
  history.tick(6 * kTicksOfHour);
  history.birth(12, {"cron", "/usr/bin/cron", "batch", "root", "/system.slice/cron.service"}, 80 * kMib);
  history.tick(6 * kTicksOfHour);
  history.death(12);
  history.tick(12 * kTicksOfHour - 1);
  history.maintain();
  history.end_run();
}

History& days() {
  return recorded<record_two_days, History::kMinute>();
}

nlohmann::json answer(std::vector<std::string> words) {
  return test::json_of(days(), std::move(words));
}

std::int64_t sum(const nlohmann::json& rows, const char* name) {
  std::int64_t total = 0;
  for (const auto& row : rows) total += row[name].is_null() ? 0 : row[name].get<std::int64_t>();
  return total;
}

const nlohmann::json& row_of(const nlohmann::json& rows, const char* key, const std::string& value) {
  for (const auto& row : rows) {
    if (has(row[key].get<std::string>(), value)) return row;
  }
  FAIL("no row of " << value);
  return rows;
}

}  // namespace

TEST_CASE("against: the same range earlier, or at the same times of another day") {
  const std::int64_t midnight = History::kStart + 7 * kDay;
  const Range hour{midnight + 3 * History::kHour, midnight + 4 * History::kHour};
  const std::int64_t now = midnight + 12 * History::kHour;
  const auto from = [&](const char* text, Zone zone = Zone::utc) {
    const auto range = parse_against(text, hour, now, zone);
    REQUIRE(range);
    CHECK(range->to_ms - range->from_ms == History::kHour);
    return hour.from_ms - range->from_ms;
  };
  CHECK(from("-7d") == 7 * kDay);
  CHECK(from("7 days ago") == 7 * kDay);
  CHECK(from("-90m") == 90 * History::kMinute);
  CHECK(from("yesterday") == kDay);
  CHECK(from("2026-11-19") == 7 * kDay);
  CHECK_FALSE(parse_against("today", hour, now, Zone::utc));
  CHECK_FALSE(parse_against("someday", hour, now, Zone::utc));
}

TEST_CASE("against: the means of two days by identity, which add up to the machine's change") {
  for (const char* other : {"-1d", "2026-11-19", "yesterday"}) {
    CAPTURE(other);
    const auto json = answer({"diff", "--day", "2026-11-20", "--against", other});
    CAPTURE(json.dump(1));
    CHECK(json["group"] == "identity");
    REQUIRE(json["rows"].size() == 2);
    CHECK(json["rows"][0]["change_kib"] == 100 * kMib);
    CHECK(json["rows"][0]["before_kib"] == 200 * kMib);
    const auto& cron = row_of(json["rows"], "identity", "cron");
    CHECK(cron["what"] == "new");
    CHECK(cron["before_kib"].is_null());
    // cron runs for six hours of the day. Its last tick has no duration, so the mean is slightly lower.
    CHECK(cron["change_kib"].get<double>() == Approx(20 * kMib).epsilon(0.01));
    CHECK(json["totals"]["unchanged"] == 1);
    CHECK(sum(json["rows"], "change_kib") == json["totals"]["change_kib"]);
    CHECK(json["totals"]["change_kib"] == json["totals"]["all_change_kib"]);
    const auto& used = json["sums"].back();
    CHECK(used["part"] == "memory in use");
    CHECK(used["change_kib"] == 200 * kMib);
    const auto& all = row_of(json["sums"], "part", "all processes");
    const auto& rest = row_of(json["sums"], "part", "other memory in use");
    CHECK(all["change_kib"].get<std::int64_t>() + rest["change_kib"].get<std::int64_t>() == 200 * kMib);
    REQUIRE(json["periods"].size() == 2);
    CHECK(json["periods"][0]["from_ms"] == History::kStart);
    CHECK(json["periods"][0]["recorded_percent"].get<double>() > 99);
    CHECK(json["periods"][1]["from_ms"] == History::kStart + kDay);
  }
}

TEST_CASE("against: other groups, one subject, and a message for a range without a recording") {
  const auto categories = answer({"diff", "--day", "2026-11-20", "--against", "-1d", "--group", "category"});
  CHECK(row_of(categories["rows"], "category", "web")["change_kib"] == 100 * kMib);
  const auto api = answer({"diff", "api", "--day", "2026-11-20", "--against", "-1d"});
  REQUIRE(api["rows"].size() == 1);
  CHECK(api["rows"][0]["change_kib"] == 100 * kMib);
  CHECK(api["sums"].back()["change_kib"] == 200 * kMib);
  const Outcome none = test::ask(days(), {"diff", "--day", "2026-11-20", "--against", "-7d"});
  CHECK(none.exit == Exit::empty);
  CHECK(has(none.out, "nothing was recorded from 2026-11-13"));
}

TEST_CASE("diff: SUBJECT selects the processes, before or after the times") {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"diff", "api", "2026-11-19 12:00", "2026-11-20 12:00"},
        {"diff", "2026-11-19 12:00", "2026-11-20 12:00", "api"},
        {"diff", "unit:api.service", "--from", "2026-11-19 12:00", "--to", "2026-11-20 12:00"}}) {
    const auto json = answer(words);
    CAPTURE(json.dump(1));
    REQUIRE(json["rows"].size() == 1);
    CHECK(json["rows"][0]["comm"] == "api");
    CHECK(json["rows"][0]["change_kib"] == 100 * kMib);
  }
  CHECK(test::ask(days(), {"diff", "nosuch"}).exit == Exit::empty);
  CHECK(test::ask(days(), {"diff", "25:77"}).exit == Exit::usage);
  CHECK(test::ask(days(), {"diff", "api", "db"}).exit == Exit::usage);
}

TEST_CASE("against: trend has both series, in each bucket and in one chart") {
  const auto json = answer({"trend", "api", "--day", "2026-11-20", "--against", "-1d", "--step", "6h"});
  CAPTURE(json.dump(1));
  REQUIRE(json["rows"].size() == 4);
  for (const auto& row : json["rows"]) {
    CHECK(row["mean_kib"] == 300 * kMib);
    CHECK(row["against_mean_kib"] == 200 * kMib);
    CHECK(row["change_kib"] == 100 * kMib);
  }
  CHECK(json["against_mean_kib"] == 200 * kMib);
  CHECK(json["periods"].size() == 2);
  const auto shown = test::answer_on_screen(days().path(), days().now_ms(),
                                            {"trend", "api", "--day", "2026-11-20", "--against", "-1d"});
  REQUIRE(shown);
  CAPTURE(*shown);
  CHECK(has(*shown, "before (●): mean 200.0 MiB"));
  CHECK(has(*shown, "●●●●●●●●"));
  // cron did not run on the first day.
  const auto cron = answer({"trend", "cron", "--day", "2026-11-20", "--against", "-1d", "--step", "6h"});
  CHECK(cron["rows"][1]["against_mean_kib"].is_null());
  CHECK(cron["rows"][1]["change_kib"].is_null());
  CHECK(test::ask(days(), {"trend", "api", "db", "--against", "-1d"}).exit == Exit::usage);
}

}  // namespace against_test
