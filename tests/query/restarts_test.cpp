// events: restarts of programs.

#include "query/ask.h"
#include "support/catch.h"

namespace restarts_test {

using namespace memoir;
using namespace memoir::query;
using memoir::test::has;
using memoir::test::History;

namespace {

constexpr std::int32_t kFirst = 10;
constexpr std::int32_t kSecond = 11;
const test::Person kServer{"server", "server --port 80", "web", "www", "/system.slice/server.service"};

// A server that ran for 20 minutes starts again after a minute. A job is too short to count.
void record(History& history) {
  history.begin_run();
  history.birth(kFirst, kServer, 1000);
  history.birth(20, {"job", "job"}, 1000);
  history.tick(12);
  history.death(20);
  history.birth(21, {"job", "job"}, 1000);
  history.tick(108);
  history.death(kFirst);
  history.tick(6);
  history.birth(kSecond, kServer, 1000);
  history.tick(60);
}

// Records the same, followed by two days.
void record_days(History& history) {
  record(history);
  history.pause(3 * 24 * History::kHour);
  history.tick(3);
}

}  // namespace

TEST_CASE("events: a program that is started again is a restart") {
  const auto answer = test::json_recorded<record>({"events", "--kind", "restart"});
  REQUIRE(answer["rows"].size() == 1);
  const auto& row = answer["rows"][0];
  CHECK(row["kind"] == "restart");
  CHECK(row["text"] == "server --port 80 in server.service restarted (pid 11), after 20 min 3 s");
  const std::int64_t started_ms = History::kStart + 126 * History::kInterval;
  CHECK(row["at_ms"].get<std::int64_t>() > started_ms - History::kInterval);
  CHECK(row["at_ms"].get<std::int64_t>() <= started_ms);
  CHECK(has(test::ask_recorded<record>({"events"}).out, "restart"));
  // The summary has the same restart.
  const auto summary = test::json_recorded<record>({"summary", "--day", "2026-11-19", "--all"});
  REQUIRE(summary["restarts"].size() == 1);
  CHECK(summary["restarts"][0]["times"] == 1);
  CHECK(test::json_recorded<record>({"events", "--kind", "restart", "--to", "2026-11-19 00:20:30"})["rows"].empty());
  CHECK(test::json_recorded<record>({"events", "--kind", "restart", "--from", "2026-11-19 00:20:30"})["rows"].size() ==
        1);
}

TEST_CASE("events: restarts are omitted from a long range, with a note") {
  const std::string why = "restarts of programs are listed for ranges of up to 2 days: --last 2d";
  CHECK(has(test::ask_recorded<record_days>({"events"}).out, why));
  const auto asked = test::json_recorded<record_days>({"events", "--kind", "restart"});
  CHECK(asked["rows"].empty());
  CHECK(has(asked["warnings"].dump(), why));
  const auto day = test::json_recorded<record_days>({"events", "--kind", "restart", "--day", "2026-11-19"});
  CHECK(day["rows"].size() == 1);
}

}  // namespace restarts_test
