// memoir cgroups: usage and limits of each cgroup, its names, and its values in rollups.

#include <SQLiteCpp/SQLiteCpp.h>
#include <algorithm>
#include <map>
#include <sstream>

#include <nlohmann/json.hpp>

#include "query/ask.h"
#include "query/golden.h"
#include "query/history.h"
#include "query/on_screen.h"
#include "query/render/layout.h"
#include "query/render/terminal.h"
#include "query/zone_guard.h"
#include "support/catch.h"

namespace cgroups_test {

using namespace memoir;
using namespace memoir::query;
using memoir::test::History;
using memoir::test::recorded;
using nlohmann::json;

namespace {

constexpr std::int64_t kMib = 1024;
const std::string kWeb = "3f2a4b5c6d7e8f901234567890abcdef3f2a4b5c6d7e8f901234567890abcdef";
const std::string kApp = "aaaabbbbccccddddeeeeffff0000111122223333444455556666777788889999";
const std::string kPod = "/kubepods.slice/kubepods-pod12ab.slice/cri-containerd-" + kApp + ".scope";

CgroupDetail detail_of(std::string path, std::int64_t peak_kib) {
  CgroupDetail detail;
  detail.path = std::move(path);
  detail.peak_kib = peak_kib;
  return detail;
}

// A service at its limit, a container, a pod, and their ancestors.
void record(History& history) {
  history.begin_run();
  history.birth(1, {"init", "/sbin/init", "other", "root", "/init.scope"}, 8 * kMib);
  history.birth(100, {"nginx", "nginx", "web", "root", "/system.slice/nginx.service"}, 90 * kMib);
  history.birth(101, {"nginx", "nginx", "web", "www", "/system.slice/nginx.service"}, 60 * kMib);
  history.birth(200, {"node", "node app.js", "web", "root", "/docker/" + kWeb}, 200 * kMib);
  history.birth(300, {"app", "/app", "web", "root", kPod}, 30 * kMib);
  history.birth(400, {"odd", "odd", "other", "root", "/system.slice/a\\x2db.service"}, 5 * kMib);
  history.cgroup({"/", 700 * kMib, 200 * kMib, 10 * kMib, {}, {}, {}, 400 * kMib, 20 * kMib, 60 * kMib});
  history.cgroup({"/system.slice", 300 * kMib, 80 * kMib, 0, {}, 600 * kMib, {}, 170 * kMib, 0, 40 * kMib});
  history.cgroup(
      {"/system.slice/nginx.service", 246 * kMib, 70 * kMib, 4 * kMib, 256 * kMib, {}, 0, 150 * kMib, 0, 20 * kMib});
  history.cgroup({"/system.slice/a\\x2db.service", 9 * kMib, kMib, {}, {}, {}, {}, 5 * kMib, {}, {}});
  history.cgroup({"/docker", 280 * kMib, 50 * kMib, 0, {}, {}, {}, 220 * kMib, 0, 8 * kMib});
  history.cgroup({"/docker/" + kWeb, 280 * kMib, 50 * kMib, 0, 512 * kMib, {}, {}, 220 * kMib, 0, 8 * kMib});
  history.cgroup({"/dockers", 3 * kMib, 0, 0, {}, {}, {}, 3 * kMib, 0, 0});
  history.cgroup({kPod, 40 * kMib, 4 * kMib, 0, {}, {}, {}, 30 * kMib, 0, 2 * kMib});
  CgroupDetail nginx{"/system.slice/nginx.service", 16 * kMib, 64 * kMib, 256 * kMib, 8 * kMib, 1, 2, 17, 3, 2, 1};
  nginx.psi_some_total_us = 61'500'000;
  nginx.psi_full_total_us = 1'250'000;
  history.cgroup_detail(nginx);
  history.cgroup_detail(detail_of("/docker/" + kWeb, 400 * kMib));
  history.container({"/docker/" + kWeb, {"docker", kWeb, "web-1", "nginx:1.27", {}, {}}});
  history.container({kPod, {"kubernetes", kApp, "app", "registry/app:7", "12ab", "prod/shop-7d9f"}});
  history.tick(2);
}

json rows_of(const History& history, std::vector<std::string> words) {
  return json_of(history, std::move(words))["rows"];
}

std::vector<std::string> paths_of(const json& rows) {
  std::vector<std::string> paths;
  for (const json& row : rows) paths.push_back(row["cgroup"]);
  return paths;
}

using Paths = std::vector<std::string>;

}  // namespace

TEST_CASE("cgroups: the view service_at has the same units and containers as the command") {
  const History& history = recorded<record>();
  SQLite::Database database(history.path(), SQLite::OPEN_READONLY);
  SQLite::Statement services(
      database,
      "SELECT service, kind, cgroup, usage_kib, anon_kib, limit_kib, limit_percent FROM service_at "
      "WHERE tick_id = (SELECT MAX(id) FROM tick) ORDER BY service");
  std::vector<std::string> names;
  while (services.executeStep()) {
    names.push_back(services.getColumn(1).getString() + " " + services.getColumn(0).getString());
    const json row = rows_of(history, {"cgroups", "cgroup:" + services.getColumn(2).getString()}).at(0);
    CAPTURE(names.back(), row.dump());
    CHECK(row["usage_kib"] == services.getColumn(3).getInt64());
    CHECK(row["anon_kib"] == services.getColumn(4).getInt64());
    CHECK(row["limit_percent"].is_null() == services.getColumn(6).isNull());
    if (row["limit_percent"].is_null()) continue;
    CHECK(row["max_kib"] == services.getColumn(5).getInt64());
    CHECK(row["limit_percent"].get<double>() == Approx(services.getColumn(6).getDouble()).margin(0.051));
  }
  CHECK(names == std::vector<std::string>{"unit a\\x2db.service", "container docker:3f2a4b5c6d7e",
                                          "container kubernetes:aaaabbbbcccc", "unit nginx.service"});
}

TEST_CASE("cgroups: the view service_at has one row for a container with processes only in child cgroups") {
  History history;
  const std::string own = "/docker/" + kWeb;
  history.begin_run();
  for (const char* below : {"/init.scope", "/system.slice/cron.service"}) {
    history.birth(below[1], {"node", "node", "web", "root", own + below}, kMib);
    history.cgroup({own + below, kMib, {}, {}, {}, {}, {}});
    history.container({own + below, {"docker", kWeb, "web-1", "", "", ""}});
  }
  history.cgroup({own, 7 * kMib, {}, {}, {}, {}, {}});
  history.tick();
  SQLite::Database database(history.path(), SQLite::OPEN_READONLY);
  SQLite::Statement services(database,
                             "SELECT kind, service, container_name, usage_kib FROM service_at ORDER BY cgroup");
  std::vector<std::string> rows;
  while (services.executeStep()) {
    std::string& row = rows.emplace_back();
    for (int i = 0; i < 4; ++i) row += services.getColumn(i).getString() + "|";
  }
  CHECK(rows == std::vector<std::string>{"container|docker:3f2a4b5c6d7e|web-1|7168|", "unit|init.scope||1024|",
                                         "unit|cron.service||1024|"});
}

TEST_CASE("cgroups: golden answers") {
  test::check_formats("cgroups", recorded<record>(), {"cgroups"});
}

TEST_CASE("cgroups: a table fits 80 columns, with limits") {
  const test::ZoneGuard zone("UTC");
  const History& history = recorded<record>();
  const std::string text =
      test::answer_on_screen(history.path(), history.now_ms(), {"cgroups", "--limit", "6"}, Screen{80, 24}).value();
  test::compare_with_golden("cgroups-80.table", text);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) CHECK(display_width(line) <= 80);
}

TEST_CASE("cgroups: a process without a cgroup path is in no cgroup") {
  History history;
  history.begin_run();
  history.birth(1, {"odd", "odd", "other", "root", "-9223372036854775808"}, 8 * kMib);
  history.cgroup({"/", 700 * kMib, {}, {}, {}, {}, {}});
  history.tick();
  const json rows = rows_of(history, {"cgroups"});
  REQUIRE(rows.size() == 1);
  CHECK(rows[0]["processes"] == 0);
}

TEST_CASE("cgroups: each row has the kernel's counts, its limits, and its processes with descendants") {
  const json rows = rows_of(recorded<record>(), {"cgroups", "unit:nginx.service"});
  REQUIRE(rows.size() == 1);
  const json& nginx = rows[0];
  CHECK(nginx["usage_kib"] == 246 * kMib);
  CHECK(nginx["anon_kib"] == 150 * kMib);
  CHECK(nginx["max_kib"] == 256 * kMib);
  CHECK(nginx["low_kib"] == 64 * kMib);
  CHECK(nginx["min_kib"] == 16 * kMib);
  CHECK(nginx["limit_percent"].get<double>() == Approx(96.1).margin(0.1));
  CHECK(nginx["peak_kib"] == 256 * kMib);
  CHECK(nginx["oom_kills"] == 2);
  CHECK(nginx["max_events"] == 17);
  CHECK(nginx["psi_some_total_ms"] == 61'500);
  CHECK(nginx["anon_mark_kib"] == 150 * kMib);
  CHECK(nginx["processes"] == 2);
  CHECK(nginx["processes_pss_kib"] == 150 * kMib);
  CHECK(nginx["slice"] == "system.slice");
  // memory.high is the limit if there is no memory.max.
  const json slice = rows_of(recorded<record>(), {"cgroups", "cgroup:/system.slice", "--limit", "1"});
  CHECK(slice[0]["cgroup"] == "/system.slice");
  CHECK(slice[0]["limit_percent"].get<double>() == Approx(50));
  CHECK(slice[0]["processes"] == 3);
}

TEST_CASE("cgroups: a path includes its descendants, and no other path with the same prefix") {
  CHECK(paths_of(rows_of(recorded<record>(), {"cgroups", "cgroup:/docker"})) == Paths{"/docker", "/docker/" + kWeb});
  CHECK(paths_of(rows_of(recorded<record>(), {"cgroups", "cgroup:/docker/" + kWeb})) == Paths{"/docker/" + kWeb});
  const Outcome none = ask(recorded<record>(), {"cgroups", "cgroup:/nowhere"});
  CHECK(none.exit != Exit::answered);
  CHECK(none.error.find("/nowhere") != std::string::npos);
}

TEST_CASE("cgroups: containers and pods have their managers' names") {
  const json web = rows_of(recorded<record>(), {"cgroups", "container:docker:3f2a4b5c6d7e"});
  REQUIRE(web.size() == 1);
  CHECK(web[0]["container_name"] == "web-1");
  CHECK(web[0]["container_image"] == "nginx:1.27");
  CHECK(web[0]["container_id"] == kWeb);
  const json pod = rows_of(recorded<record>(), {"cgroups", "cgroup:/kubepods.slice"});
  REQUIRE(pod.size() == 1);
  CHECK(pod[0]["pod"] == "prod/shop-7d9f");
  CHECK(pod[0]["pod_uid"] == "12ab");
  const std::string table = ask(recorded<record>(), {"cgroups"}).out;
  CHECK(table.find("web-1 (docker:3f2a4b5c6d7e)") != std::string::npos);
  CHECK(table.find("prod/shop-7d9f/app (kubernetes:aaaabbbbcccc)") != std::string::npos);
  CHECK(table.find("a\\x2db.service") != std::string::npos);
}

TEST_CASE("cgroups: rows are ranked by any given key, with unknown values last") {
  CHECK(rows_of(recorded<record>(), {"cgroups", "--by", "limit"})[0]["cgroup"] == "/system.slice/nginx.service");
  CHECK(rows_of(recorded<record>(), {"cgroups", "--by", "peak"})[0]["cgroup"] == "/docker/" + kWeb);
  CHECK(rows_of(recorded<record>(), {"cgroups", "--by", "kills"})[0]["cgroup"] == "/system.slice/nginx.service");
  CHECK(rows_of(recorded<record>(), {"cgroups"})[0]["cgroup"] == "/");
  CHECK(ask(recorded<record>(), {"cgroups", "--by", "pss"}).exit == Exit::usage);
}

TEST_CASE("cgroups: a recording without cgroups has no answer") {
  History history;
  history.begin_run();
  history.birth(1, {"init", "/sbin/init"}, kMib);
  history.tick(1);
  const Outcome outcome = ask(history, {"cgroups"});
  CHECK(outcome.exit == Exit::empty);
  CHECK(outcome.out.find("no cgroup was recorded") != std::string::npos);
}

TEST_CASE("cgroups: rollups have the sums over processes, and the highest usage of the day") {
  History history(60'000);
  record(history);
  history.tick(118);
  history.maintain();
  const json rows = rows_of(history, {"cgroups", "--tier", "hour", "--at", "2026-11-19T00:30Z"});
  const auto nginx =
      std::ranges::find_if(rows, [](const json& row) { return row["cgroup"] == "/system.slice/nginx.service"; });
  REQUIRE(nginx != rows.end());
  CHECK((*nginx)["usage_mark_kib"] == 246 * kMib);
  CHECK((*nginx)["anon_mark_kib"] == 150 * kMib);
  CHECK((*nginx)["processes_pss_kib"] == 150 * kMib);
  CHECK_FALSE(nginx->contains("usage_kib"));
  const Outcome table = ask(history, {"cgroups", "--tier", "hour", "--at", "2026-11-19T00:30Z"});
  CHECK(table.out.find("have expired. Usage is the maximum of that UTC day") != std::string::npos);
}

TEST_CASE("cgroups: top and peaks show names by container, and parts of the path by slice") {
  const json rows = rows_of(recorded<record>(), {"top", "--group", "container", "--by", "pss"});
  CHECK(rows[0]["container"] == "docker:3f2a4b5c6d7e");
  CHECK(rows[0]["container_name"] == "web-1");
  CHECK(rows_of(recorded<record>(), {"peaks", "--group", "container", "--by", "pss"})[0]["container_name"] == "web-1");
  std::map<std::string, std::int64_t> slices;
  for (const json& row : rows_of(recorded<record>(), {"top", "--group", "slice"}))
    slices[row["slice"]] = row["pss_kib"];
  CHECK(slices["system.slice"] == 155 * kMib);
  CHECK(slices["kubepods-pod12ab.slice"] == 30 * kMib);
  CHECK(slices[""] == 208 * kMib);
  CHECK(rows_of(recorded<record>(), {"top", "--filter", "slice=system.slice"}).size() == 3);
}

}  // namespace cgroups_test
