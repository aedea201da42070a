// memoir diff: every part of a change occurs exactly once.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "query/ask.h"
#include "query/history.h"
#include "store/writer.h"
#include "support/catch.h"
#include "support/simulation.h"
#include "support/temporary_directory.h"

namespace diff_test {

using namespace memoir;
using namespace memoir::query;
using memoir::test::History;

namespace {

constexpr std::int64_t kMib = 1024;

nlohmann::json ask(const std::string& path, std::int64_t now_ms, std::vector<std::string> arguments,
                   Exit exit = Exit::answered) {
  arguments.insert(arguments.end(), {"--format", "json"});
  const Outcome outcome = test::ask(path, now_ms, std::move(arguments));
  CAPTURE(outcome.error);
  REQUIRE(outcome.exit == exit);
  return exit == Exit::usage ? nlohmann::json(outcome.error) : nlohmann::json::parse(outcome.out);
}

// Half an hour of a simulated machine with starts, exits and a reboot.
struct Simulated {
  test::TemporaryDirectory directory;
  std::string path = directory.path() + "/memoir.db";
  std::int64_t from_ms = 0;
  std::int64_t to_ms = 0;

  explicit Simulated(bool reboots) {
    test::Simulation simulation({.processes = 60, .changing = 0.2, .births = 0.5});
    for (int run = 0; run < (reboots ? 2 : 1); ++run) {
      if (run > 0) simulation.reboot();
      auto writer = Writer::open(path, Durability::normal);
      REQUIRE(writer);
      REQUIRE((*writer)->begin_run({simulation.boot(), 1, "test", 10'000, simulation.now()}));
      for (int tick = 0; tick < 90; ++tick) {
        to_ms = simulation.now().wall_ms;
        if (from_ms == 0) from_ms = to_ms;
        REQUIRE((*writer)->write(simulation.next()));
      }
      REQUIRE((*writer)->end_run(simulation.now(), "stopped"));
    }
  }
};

std::int64_t sum(const nlohmann::json& rows, const char* name) {
  std::int64_t total = 0;
  for (const auto& row : rows) total += row[name].is_null() ? 0 : row[name].get<std::int64_t>();
  return total;
}

}  // namespace

TEST_CASE("diff: rows add up to the processes' part, and parts to the machine, by any group, filter, limit and time") {
  const bool reboots = GENERATE(false, true);
  const Simulated file(reboots);
  for (const std::int64_t from_ms : {file.from_ms, file.from_ms + 123'456}) {
    for (const char* group : {"process", "identity", "command", "category", "cgroup", "user"}) {
      for (const std::vector<std::string>& more :
           {std::vector<std::string>{"--limit", "0"}, {"--limit", "3"}, {"--filter", "user=app", "--limit", "2"}}) {
        CAPTURE(reboots, from_ms, group, more);
        std::vector<std::string> arguments{"diff", fmt::format("@{}", from_ms), fmt::format("@{}", file.to_ms),
                                           "--group", group};
        arguments.insert(arguments.end(), more.begin(), more.end());
        const auto answer = ask(file.path, file.to_ms, arguments);
        const auto& totals = answer["totals"];
        const auto& parts = answer["machine"];
        REQUIRE(parts[0]["part"] == "processes");
        const std::int64_t rows = sum(answer["rows"], "change_kib") + totals["cut_kib"].get<std::int64_t>();
        CHECK(rows == totals["change_kib"]);
        CHECK(rows + totals["others_kib"].get<std::int64_t>() == parts[0]["change_kib"]);
        CHECK(sum(parts, "after_kib") == totals["machine_total_after_kib"]);
        CHECK(sum(parts, "before_kib") == totals["machine_total_before_kib"]);
        CHECK(sum(parts, "change_kib") == totals["machine_total_after_kib"].get<std::int64_t>() -
                                              totals["machine_total_before_kib"].get<std::int64_t>());
        CHECK(parts.back()["part"] == "rest");
        for (const auto& row : answer["rows"]) {
          CHECK(row["change_kib"] == (row["after_kib"].is_null() ? 0 : row["after_kib"].get<std::int64_t>()) -
                                         (row["before_kib"].is_null() ? 0 : row["before_kib"].get<std::int64_t>()));
        }
      }
    }
  }
}

TEST_CASE("diff: started, exited, grown and shrunk, the largest change first") {
  History history;
  history.begin_run();
  history.birth(1, {"a", "a grows"}, 100 * kMib);
  history.birth(2, {"b", "b shrinks"}, 100 * kMib);
  history.birth(3, {"c", "c stays"}, 100 * kMib);
  history.birth(4, {"d", "d ends"}, 40 * kMib);
  history.tick(6);
  history.birth(5, {"e", "e comes and goes"}, 7 * kMib);
  history.tick(3);
  history.death(4);
  history.death(5);
  history.hold(1, 300 * kMib);
  history.hold(2, 50 * kMib);
  history.birth(6, {"f", "f is new"}, 30 * kMib);
  history.tick(6);
  const auto answer = ask(history.path(), history.now_ms(), {"diff", "00:00:10"});
  const auto& rows = answer["rows"];
  REQUIRE(rows.size() == 4);
  const std::vector<std::pair<int, std::string>> expected{{1, "grown"}, {2, "shrunk"}, {4, "gone"}, {6, "new"}};
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(rows[i]["pid"] == expected[i].first);
    CHECK(rows[i]["what"] == expected[i].second);
  }
  CHECK(rows[0]["change_kib"] == 200 * kMib);
  CHECK(rows[2]["after_kib"].is_null());
  CHECK(rows[2]["end"] == "ended");
  CHECK(rows[2]["gone_ms"] == History::kStart + 90'000);
  CHECK(rows[3]["before_kib"].is_null());
  CHECK(answer["totals"]["unchanged"] == 1);
  CHECK(answer["totals"]["came_and_went"] == 1);
  // A process that is first sampled at T1 exists at T1.
  const auto later = ask(history.path(), history.now_ms(), {"diff", "00:01:00"});
  CHECK(later["totals"]["gone"] == 2);
  CHECK(later["totals"]["came_and_went"] == 0);
  const auto first = ask(history.path(), history.now_ms(), {"diff", "00:00:00"});
  CHECK(first["totals"]["gone"] == 1);
  CHECK(first["totals"]["came_and_went"] == 1);
}

TEST_CASE("diff: the excluded processes have their change of the given metric") {
  const Simulated file(false);
  for (const std::string by : {"pss", "rss", "uss", "swap"}) {
    const std::vector<std::string> whole{"diff", fmt::format("@{}", file.from_ms), fmt::format("@{}", file.to_ms),
                                         "--by", by};
    auto part = whole;
    part.insert(part.end(), {"--filter", "user=app"});
    const auto all = ask(file.path, file.to_ms, whole)["totals"];
    const auto some = ask(file.path, file.to_ms, part)["totals"];
    CAPTURE(by, all.dump(), some.dump());
    CHECK(some["change_kib"].get<std::int64_t>() + some["others_kib"].get<std::int64_t>() == all["change_kib"]);
    if (by != "swap") CHECK(some["others_kib"] != 0);
  }
}

TEST_CASE("diff: incomparable times are refused, and times outside the file are reported") {
  History history;
  history.begin_run();
  history.birth(1, {"a", "a"}, 100);
  history.tick(12);
  const std::string path = history.path();
  const std::int64_t now = history.now_ms();
  CHECK(ask(path, now, {"diff", "00:01", "00:00:30"}, Exit::usage).get<std::string>().find("earlier") !=
        std::string::npos);
  ask(path, now, {"diff", "7 o'clock"}, Exit::usage);
  ask(path, now, {"diff", "00:00", "00:01", "00:02"}, Exit::usage);
  ask(path, now, {"diff", "00:00", "--last", "1m"}, Exit::usage);
  ask(path, now, {"diff", "2026-11-01", "2026-11-02"}, Exit::empty);
  const auto early = ask(path, now, {"diff", "2026-11-01"});
  REQUIRE(early["warnings"].size() == 1);
  CHECK(early["before_ms"] == History::kStart);
  const auto same = ask(path, now, {"diff", "00:01:01", "00:01:02"});
  CHECK(same["rows"].empty());
  CHECK(same["warnings"].size() == 1);
  // Differences from the last tick are refused on any machine and at any time.
  for (const std::int64_t later_ms : {std::int64_t{0}, std::int64_t{20} * 86'400'000}) {
    const auto relative = ask(path, now + later_ms, {"diff", "-1m", "-30s"});
    CHECK(relative["before_ms"] == History::kStart + 50'000);
    CHECK(relative["after_ms"] == History::kStart + 80'000);
    CHECK(relative["warnings"].empty());
  }
  const auto ahead = ask(path, now, {"diff", "00:00:30", "00:09"});
  CHECK(ahead["after_ms"] == History::kStart + 110'000);
  CHECK(ahead["range"]["to_ms"] == now);
}

TEST_CASE("diff: a zombie uses no memory, and an empty file is reported as such") {
  History history;
  history.begin_run();
  CHECK(ask(history.path(), history.now_ms(), {"diff"}, Exit::empty)["rows"].empty());
  history.birth(1, {"a", "a"}, 100);
  history.tick(2);
  history.zombie(1);
  history.tick(2);
  const auto answer = ask(history.path(), history.now_ms(), {"diff", "-40s"});
  REQUIRE(answer["rows"].size() == 1);
  CHECK(answer["rows"][0]["change_kib"] == -100);
  CHECK(answer["rows"][0]["after_kib"].is_null());
}

}  // namespace diff_test
