// memoir summary: what needs attention, quiet days, weeks, and several hosts.

#include <fmt/format.h>
#include <sstream>

#include <nlohmann/json.hpp>

#include "query/ask.h"
#include "query/render/layout.h"
#include "query/week.h"
#include "support/catch.h"

namespace attention_test {

using namespace memoir;
using namespace memoir::query;
using memoir::test::ask;
using memoir::test::has;
using memoir::test::History;
using memoir::test::json_of;
using memoir::test::kWeekDayMs;
using memoir::test::recorded_week;

namespace {

constexpr std::int64_t kMib = 1024;
constexpr std::int64_t kInterval = 60'000;
constexpr int kTicksOfDay = 24 * 60;

const std::vector<std::string> kFirstDay{"summary", "--day", "2026-11-19"};

std::vector<std::string> words(std::vector<std::string> more) {
  more.insert(more.begin(), kFirstDay.begin(), kFirstDay.end());
  return more;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::vector<nlohmann::json> concerns(const nlohmann::json& answer, const std::string& kind) {
  std::vector<nlohmann::json> found;
  for (const auto& row : answer["attention"]) {
    if (row["kind"] == kind) found.push_back(row);
  }
  return found;
}

void begin_calm(History& history) {
  history.begin_run();
  history.machine(4096 * kMib);
  history.oom_kills(0);
  history.birth(100, {"calm", "/usr/bin/calm", "web", "app", "/system.slice/calm.service"}, 500 * kMib);
}

// A day without events, and an hour of the next day.
void record_dull(History& history) {
  begin_calm(history);
  history.tick(kTicksOfDay + 60);
  history.end_run();
}

History& dull() {
  return test::recorded<record_dull, kInterval>();
}

}  // namespace

TEST_CASE("attention: a quiet day is three lines of 80 columns, and nothing with --if-notable") {
  const Outcome shown = ask(dull(), kFirstDay);
  CAPTURE(shown.out, shown.error);
  CHECK(shown.exit == Exit::answered);
  const auto lines = lines_of(shown.out);
  CHECK(lines.size() == 3);
  for (const std::string& line : lines) CHECK(display_width(line) <= 80);
  CHECK(has(shown.out, "testhost: memory on Thursday, 19 November 2026"));
  CHECK(has(shown.out, "Nothing needs attention"));
  CHECK(has(shown.out, "4.0 GiB used"));
  CHECK(has(shown.out, "Recorded"));

  for (const char* format : {"table", "json", "csv", "markdown", "html"}) {
    CAPTURE(format);
    const Outcome silent = ask(dull(), words({"--if-notable", "--format", format}));
    CHECK(silent.exit == Exit::empty);
    CHECK(silent.out.empty());
    CHECK(silent.error.empty());
  }
  const auto json = json_of(dull(), kFirstDay);
  CHECK(json["notable"] == false);
  CHECK(json["attention"].empty());
  CHECK(json["rows"].size() == 8);
  CHECK_FALSE(json["identities"].empty());
  CHECK(has(ask(dull(), words({"--all"})).out, "Programs by PSS"));
}

TEST_CASE("attention: days before the first recording have no rows") {
  const std::string all = ask(dull(), words({"--all"})).out;
  CHECK(has(all, "2026-11-19 "));
  CHECK_FALSE(has(all, "2026-11-18"));
}

TEST_CASE("attention: a notable day lists the events first") {
  const std::vector<std::string> day{"summary", "--day", "2026-11-26"};
  const Outcome shown = ask(recorded_week(), {"summary", "--day", "2026-11-26", "--if-notable"});
  CAPTURE(shown.out);
  CHECK(shown.exit == Exit::answered);
  CHECK(shown.out == ask(recorded_week(), day).out);
  CHECK(shown.out.find("Needs attention") < shown.out.find("Memory in use was"));
  const auto json = json_of(recorded_week(), day);
  CHECK(json["notable"] == true);
  REQUIRE(concerns(json, "oom-kill").size() == 1);
  const auto recorder = concerns(json, "recorder");
  REQUIRE(recorder.size() == 1);
  CHECK(recorder[0]["text"] ==
        "The recorder crashed once; nothing was recorded for 52 min (from 14:08 to 15:00: killed)");
  // The application at 09:00 and the machine's memory are unusual; hours of other days are not listed.
  const auto unusual = concerns(json, "unusual");
  REQUIRE_FALSE(unusual.empty());
  CHECK(unusual[0]["subject"].is_null());
  CHECK(unusual[0]["at_ms"] == test::kWeekLastDay + 9 * History::kHour);
  CHECK(unusual[0]["value_kib"] > unusual[0]["limit_kib"]);
  CHECK(concerns(json_of(recorded_week(), {"summary", "--day", "2026-11-25"}), "unusual").empty());
}

TEST_CASE("attention: kills have their service and its limit, and those of one cgroup are listed once") {
  History history(kInterval);
  begin_calm(history);
  history.birth(200, {"java", "/usr/bin/java", "jvm", "app", "/system.slice/shop.service"}, 200 * kMib);
  history.tick(10);
  for (int kill = 1; kill <= 3; ++kill) {
    history.oom_kills(kill);
    OomDetail detail{.scope = OomScope::cgroup};
    detail.limit_cgroup = "/system.slice/shop.service";
    detail.limit_kib = 384 * kMib;
    history.oom_victim({.pid = 200,
                        .comm = "java",
                        .cgroup = "/system.slice/shop.service",
                        .at_ms = history.now_ms() - 1000,
                        .held_kib = 200 * kMib,
                        .detail = detail});
    history.tick(10);
  }
  history.end_run();
  const auto json = json_of(history, kFirstDay);
  CAPTURE(json["attention"].dump(1));
  const auto kills = concerns(json, "oom-kill");
  REQUIRE(kills.size() == 1);
  const auto text = kills[0]["text"].get<std::string>();
  CHECK(has(text, "The OOM killer killed java (200) when shop.service reached its 384.0 MiB limit; 2 other kills in "));
  CHECK(kills[0]["limit_kib"] == 384 * kMib);
  CHECK(has(kills[0]["command"].get<std::string>(), "memoir incident --at @"));
}

TEST_CASE("attention: cgroups near their limit, without page cache, and full tmpfs mounts") {
  History history(kInterval);
  begin_calm(history);
  const auto cgroup = [](const char* path, std::int64_t current_mib, std::int64_t file_mib) {
    CgroupSample sample;
    sample.path = path;
    sample.current_kib = current_mib * kMib;
    sample.file_kib = file_mib * kMib;
    sample.max_kib = 400 * kMib;
    return sample;
  };
  TmpfsSample full;
  full.mount_point = "/run";
  full.limit_kib = 100 * kMib;
  full.used_kib = 85 * kMib;
  TmpfsSample half = full;
  half.mount_point = "/tmp";
  half.used_kib = 50 * kMib;
  history.cgroup(cgroup("/system.slice/calm.service", 399, 200));
  history.cgroup(cgroup("/system.slice/shop.service", 100, 0));
  history.tick(10);
  history.cgroup(cgroup("/system.slice/shop.service", 380, 10));
  history.tmpfs({full, half});
  const std::int64_t at_ms = history.now_ms();
  history.tick(1);
  history.cgroup(cgroup("/system.slice/shop.service", 100, 0));
  history.tick(60);
  history.end_run();
  const auto json = json_of(history, kFirstDay);
  CAPTURE(json["attention"].dump(1));
  const auto limits = concerns(json, "near-limit");
  REQUIRE(limits.size() == 1);
  CHECK(limits[0]["subject"] == "/system.slice/shop.service");
  CHECK(limits[0]["value_kib"] == 380 * kMib);
  CHECK(limits[0]["limit_kib"] == 400 * kMib);
  CHECK(limits[0]["at_ms"] == at_ms);
  CHECK(limits[0]["text"] == "shop.service used 380.0 MiB of its 400.0 MiB limit, 95%, at 00:10");
  const auto tmpfs = concerns(json, "tmpfs");
  REQUIRE(tmpfs.size() == 1);
  CHECK(tmpfs[0]["subject"] == "/run");
  CHECK(tmpfs[0]["value_kib"] == 85 * kMib);
}

// The service starts once a minute and runs for 30 s each time: eight times, and seven times an hour later. A shell
// loop, whose processes have the shell as their parent, is not listed.
TEST_CASE("attention: a service that is restarted repeatedly is one row") {
  History history(15'000);
  begin_calm(history);
  history.birth(10, {"sh", "sh loop.sh", "other", "root", "/user.slice/user-0.slice/session-1.scope"}, kMib);
  for (int start = 0; start < 15; ++start) {
    if (start == 8) history.tick(240);
    const std::int32_t pid = 300 + 2 * start;
    history.birth(pid, {"shopd", "/usr/sbin/shopd", "web", "app", "/system.slice/shop.service"}, 20 * kMib);
    history.birth(pid + 1, {"sleep", "sleep 30", "other", "root", "/user.slice/user-0.slice/session-1.scope"}, kMib);
    history.parent(pid + 1, 10);
    history.tick(2);
    history.death(pid);
    history.death(pid + 1);
    history.tick(2);
  }
  history.tick(40);
  history.end_run();
  const auto json = json_of(history, kFirstDay);
  CAPTURE(json["attention"].dump(1));
  const auto restarts = concerns(json, "restarts");
  REQUIRE(restarts.size() == 1);
  CHECK(has(restarts[0]["text"].get<std::string>(), "shopd in shop.service was started 15 times from 23:59 to 01:13"));
}

// Each process ran for twelve minutes. The service was restarted; a worker of the pool was replaced by its parent.
TEST_CASE("attention: a service that is restarted three times is listed") {
  History history(60'000);
  begin_calm(history);
  const std::string unit = "/system.slice/shop.service";
  history.birth(10, {"pool", "/usr/sbin/pool", "web", "app", unit}, kMib);
  for (int start = 0; start < 4; ++start) {
    const std::int32_t pid = 300 + 2 * start;
    history.birth(pid, {"shopd", "/usr/sbin/shopd", "web", "app", unit}, 20 * kMib);
    history.birth(pid + 1, {"worker", "pool: worker", "web", "app", unit}, 20 * kMib);
    history.parent(pid + 1, 10);
    history.tick(12);
    history.death(pid);
    history.death(pid + 1);
    history.tick(1);
  }
  history.tick(10);
  history.end_run();
  const auto json = json_of(history, kFirstDay);
  CAPTURE(json.dump(1));
  CHECK(json["restarts"].size() == 2);
  const auto restarts = concerns(json, "restarts");
  REQUIRE(restarts.size() == 1);
  CHECK(has(restarts[0]["text"].get<std::string>(), "shopd in shop.service was restarted 3 times"));
}

TEST_CASE("attention: many brief command lines of a program are one row") {
  History history(kInterval);
  begin_calm(history);
  const std::string session = "/user.slice/user-0.slice/session-1.scope";
  for (int file = 0; file < 12; ++file) {
    history.birth(500 + file,
                  {"cc1plus", "cc1plus -O2 /src/" + std::string(1, static_cast<char>('a' + file)) + ".cpp", "compiler",
                   "dev", session},
                  100 * kMib);
    history.tick(3);
    history.death(500 + file);
    history.tick(1);
  }
  history.maintain();
  history.end_run();
  const auto json = json_of(history, words({"--limit", "0"}));
  CAPTURE(json["identities"].dump(1));
  std::int64_t folded = 0;
  std::int64_t mean_kib = 0;
  for (const auto& row : json["identities"]) {
    if (row["folded"] == 0) continue;
    folded += row["folded"].get<std::int64_t>();
    mean_kib += row["mean_kib"].get<std::int64_t>();
    CHECK(row["max_kib"].is_null());
    CHECK(has(row["title"].get<std::string>(), "12 command lines"));
  }
  CHECK(folded == 12);
  CHECK(json["identities"].size() == 2);
  // The program runs with 100 MiB for three of four minutes.
  CHECK(mean_kib == Approx(75 * kMib).epsilon(0.1));
}

TEST_CASE("attention: a leak is listed on the day on which it is found") {
  std::vector<std::string> found;
  for (const char* day : {"2026-11-19", "2026-11-20", "2026-11-21", "2026-11-22", "2026-11-23", "2026-11-24"}) {
    for (const auto& leak : concerns(json_of(recorded_week(), {"summary", "--day", day}), "leak")) {
      CHECK(leak["command"] == "memoir leaks");
      if (leak["subject"] == "machine") continue;  // its unaccounted memory
      found.push_back(fmt::format("{}: {}", day, leak["text"].get<std::string>()));
    }
  }
  CAPTURE(found);
  REQUIRE(found.size() == 1);
  CHECK(has(found[0], "2026-11-20: new: postgres: main: checkpointer in postgresql.service (pid 201) has leaked "));
  CHECK(has(found[0], " MiB a day since 2026-11-19"));
}

TEST_CASE("attention: a week has its days, their sum and the weekday of each time") {
  const std::vector<std::string> week{"summary", "--week", "--day", "2026-11-26"};
  const Outcome shown = ask(recorded_week(), week);
  CAPTURE(shown.out);
  CHECK(shown.exit == Exit::answered);
  CHECK(has(shown.out, "The days of the week"));
  CHECK(has(shown.out, "Peak in use, Thu 09:5"));
  const auto json = json_of(recorded_week(), week);
  CHECK(json["days"] == 7);
  CHECK(json["range"]["from_ms"] == History::kStart + kWeekDayMs);
  CHECK(json["range"]["to_ms"] == History::kStart + 8 * kWeekDayMs - 1);
  REQUIRE(json["rows"].size() == 8);
  CHECK(json["rows"][7]["days"] == 7);
  CHECK(json["rows"][7]["used_mean_kib"] == json["used_mean_kib"]);
  CHECK(json["oom_kills"] == 1);
  CHECK(concerns(json, "oom-kill").size() == 1);
  for (const std::string& line : lines_of(shown.out)) CHECK(display_width(line) <= 80);
}

TEST_CASE("attention: each of several hosts has a line, and those that need attention come first") {
  const std::vector<std::string> files{
      "summary", "--day", "2026-11-19", dull().path(), recorded_week().path(), "/nowhere/memoir.db"};
  const auto asked = [&](std::vector<std::string> more) {
    std::vector<std::string> all = files;
    all.insert(all.end(), more.begin(), more.end());
    return ask(dull(), all);
  };
  const Outcome shown = asked({"--json"});
  CAPTURE(shown.out, shown.error);
  REQUIRE(shown.exit == Exit::answered);
  const auto json = nlohmann::json::parse(shown.out);
  REQUIRE(json["rows"].size() == 3);
  CHECK(json["totals"]["hosts"] == 3);
  CHECK(json["rows"][2]["notable"] == false);
  const auto unread = std::find_if(json["rows"].begin(), json["rows"].end(),
                                   [](const auto& row) { return row["file"] == "/nowhere/memoir.db"; });
  REQUIRE(unread != json["rows"].end());
  CHECK((*unread)["notable"] == true);
  CHECK((*unread)["used_mean_kib"].is_null());
  CHECK(has(asked({}).out, "nothing needs attention"));
  const Outcome silent = ask(dull(), {"summary", "--day", "2026-11-19", "--if-notable", dull().path()});
  CHECK(silent.exit == Exit::empty);
  CHECK(silent.out.empty());
}

}  // namespace attention_test
