// memoir incident: changes around a time.

#include <algorithm>
#include <csignal>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "query/ask.h"
#include "query/golden.h"
#include "query/history.h"
#include "support/catch.h"

namespace incident_test {

using namespace memoir;
using namespace memoir::query;
using memoir::test::History;
using memoir::test::Person;
using memoir::test::recorded;
using nlohmann::json;

namespace {

constexpr std::int64_t kMib = 1024;
constexpr std::int64_t kGib = 1024 * kMib;
constexpr const char* kApp = "/system.slice/app.service";

// A service grows to its limit while a job runs and a tmpfs grows; it is killed and restarted.
void record(History& history) {
  history.begin_run("bpf");
  history.machine(8 * kGib);
  history.machine(MachineField::psi_some_total, 0);
  history.machine(MachineField::psi_full_total, 0);
  history.oom_kills(3);
  history.tell_ends();
  history.birth(10, {"db", "/usr/bin/db", "data", "db", "/system.slice/db.service"}, 3 * kGib);
  history.birth(812, {"java", "java -jar shop.jar", "app", "app", kApp}, 4 * kGib);
  CgroupSample app;
  app.path = kApp;
  app.current_kib = 4 * kGib;
  app.max_kib = 5 * kGib;
  history.cgroup(app);
  CgroupSample db = app;
  db.path = "/system.slice/db.service";
  db.max_kib = 8 * kGib;
  history.cgroup(db);
  TmpfsSample run;
  run.mount_point = "/run";
  run.used_kib = 10 * kMib;
  history.tmpfs({run});
  history.tick(60);
  for (int i = 1; i <= 30; ++i) {
    if (i == 10)
      history.birth(900, {"report.py", "report.py --all", "job", "root", "/system.slice/cron.service"}, kMib);
    if (i > 10) history.hold(900, (i - 10) * 40 * kMib);
    history.hold(812, 4 * kGib + i * 30 * kMib);
    history.machine(8 * kGib + i * 65 * kMib);
    history.machine(MachineField::psi_some_total, i * 200'000);
    history.machine(MachineField::psi_full_total, i * 100'000);
    app.current_kib = 4 * kGib + i * 34 * kMib;
    history.cgroup(app);
    history.tick();
  }
  run.used_kib = 400 * kMib;
  history.tmpfs({run});
  history.machine(MachineField::shmem, 390 * kMib);
  history.tick();
  const OomDetail limit{.scope = OomScope::cgroup,
                        .limit_cgroup = kApp,
                        .invoked_by = "java",
                        .usage_kib = 5 * kGib,
                        .limit_kib = 5 * kGib,
                        .anon_kib = 5 * kGib - 60 * kMib,
                        .file_kib = 2 * kMib,
                        .shmem_kib = 0,
                        .others = {{10, "db", 3 * kGib, 0}, {900, "report.py", 800 * kMib, 0}}};
  history.oom_victim({812, "java", kApp, history.now_ms() - 2'500, 4 * kGib + 900 * kMib, 5 * kGib - 50 * kMib, limit});
  history.death(812);
  history.oom_kills(4);
  history.machine(6 * kGib);
  history.flash(950, {"sh", "sh"}, 20 * kMib, 0x100);
  history.tick();
  history.birth(960, {"java", "java -jar shop.jar", "app", "app", kApp}, 500 * kMib);
  history.tick(40);
  history.end_run();
}

std::int64_t sum_of(const json& rows, const char* column) {
  std::int64_t sum = 0;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    if (!rows[i][column].is_null()) sum += rows[i][column].get<std::int64_t>();
  }
  return sum;
}

}  // namespace

TEST_CASE("incident: golden answers") {
  test::check_formats("incident", recorded<record>(), {"incident"}, true);
  const std::string page = text_of(recorded<record>(), {"incident", "--format", "html"});
  const std::size_t style = page.find("</style>");
  test::compare_with_golden("incident.html", page.substr(0, page.find("<style>")) + page.substr(style));
}

TEST_CASE("incident: the first screen names the victim, the reason and the restart") {
  const Outcome outcome = ask(recorded<record>(), {"incident"});
  const std::string screen = outcome.out.substr(0, outcome.out.find("OOM victims"));
  CAPTURE(screen);
  CHECK(std::ranges::count(screen, '\n') <= 24);
  for (const char* said : {"OOM kill in app.service", "killed java (812) when app.service reached its 5.0 GiB limit",
                           "app.service grew by", "shop.jar in app.service grew by", "killed, restarted",
                           "Limits     db.service", "Machine    9.9 GiB of 16.0 GiB in use, +1.9 GiB",
                           "after the last tick", "Killed     1 process by the OOM killer; 1 restarted", "some 2.0%"}) {
    CAPTURE(said);
    CHECK(screen.find(said) != std::string::npos);
  }
}

TEST_CASE("incident: the parts add up to the change of the scope and of the machine, however many are shown") {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"incident"},
                                                {"incident", "--limit", "1"},
                                                {"incident", "--limit", "0"},
                                                {"incident", "--window", "2m"},
                                                {"incident", "--at", "00:12:00"}}) {
    const json answer = json_of(recorded<record>(), words);
    const bool is_cgroup = answer["scope"] == "cgroup";
    const json& rows = answer["rows"];
    REQUIRE(rows.size() > 1);
    CHECK(rows[0]["part"] == (is_cgroup ? "cgroup" : "machine"));
    CHECK(sum_of(rows, "change_kib") == rows[0]["change_kib"]);
    const json& machine = answer[is_cgroup ? "machine" : "rows"];
    CHECK(machine[0]["part"] == "machine");
    CHECK(machine[0]["change_kib"] ==
          answer["used_kib"].get<std::int64_t>() - answer["used_before_kib"].get<std::int64_t>());
    CHECK(sum_of(machine, "change_kib") == machine[0]["change_kib"]);
  }
}

TEST_CASE("incident: the culprit comes first, with its outcome; other victims are in the evidence") {
  const json answer = json_of(recorded<record>(), {"incident"});
  CHECK(answer["moment"] == "oom-kill");
  CHECK(answer["rows"][1]["title"] == "shop.jar in app.service");
  CHECK(answer["rows"][1]["what"].get<std::string>().starts_with("killed, restarted"));
  REQUIRE(answer["victims"].size() == 1);
  const json& victim = answer["victims"][0];
  CHECK(victim["limit_cgroup"] == kApp);
  CHECK(victim["limit_kib"] == 5 * kGib);
  CHECK(victim["scope"] == "cgroup");
  CHECK(answer["runners_up"].size() == 2);
  CHECK(answer["ended"][0]["command"] == "sh");
  CHECK(answer["scope"] == "cgroup");
  CHECK(answer["scope_cgroup"] == kApp);
  CHECK(answer["scope_limit_kib"] == 5 * kGib);
  CHECK(answer["scope_usage_kib"] == 5 * kGib);
  CHECK(answer["kills_30d"] == 0);
  CHECK(answer["limits"][0]["cgroup"] == "/system.slice/db.service");
  CHECK(answer["samples"].back()["rss_kib"] == 4 * kGib + 900 * kMib);
  CHECK(answer["totals"]["restarts"] == 1);
  CHECK(answer["totals"]["oom_kills"] == 1);
}

TEST_CASE("incident: a process in the cgroup at its limit comes first, otherwise the process that grew most") {
  for (const auto& [scope, first] : {std::pair(OomScope::cgroup, "app"), std::pair(OomScope::machine, "job")}) {
    History history;
    history.begin_run("bpf");
    history.machine(8 * kGib);
    history.oom_kills(0);
    history.tell_ends();
    history.birth(1, {"app", "app", "app", "app", kApp}, kGib);
    history.birth(2, {"job", "job", "job", "root", "/system.slice/cron.service"}, kGib);
    history.birth(3, {"worker", "worker", "app", "app", kApp}, kMib);
    history.tick(60);
    for (int i = 1; i <= 10; ++i) {
      history.hold(1, kGib + i * 10 * kMib);
      history.hold(2, kGib + i * 100 * kMib);
      history.machine(8 * kGib + i * 110 * kMib);
      history.tick();
    }
    history.oom_victim(
        {3, "worker", kApp, history.now_ms() - 2'500, kMib, kMib, OomDetail{.scope = scope, .limit_cgroup = kApp}});
    history.death(3);
    history.oom_kills(1);
    history.tick(5);
    history.end_run();
    const json rows = json_of(history, {"incident"})["rows"];
    CAPTURE(rows.dump(1));
    const auto row = std::ranges::find_if(rows, [](const json& of) {
      const std::string title = of["title"].is_string() ? of["title"] : "";
      return title.starts_with("app") || title.starts_with("job");
    });
    REQUIRE(row != rows.end());
    CHECK((*row)["title"].get<std::string>().starts_with(first));
  }
}

TEST_CASE("incident: a kill known only from counters is reported as such") {
  History history;
  history.begin_run("proc");
  history.machine(kGib);
  history.oom_kills(0);
  history.birth(10, {"hog", "hog"}, 100 * kMib);
  history.tick(30);
  history.hold(10, 500 * kMib);
  history.tick();
  history.death(10);
  history.oom_kills(1);
  history.tick(3);
  history.end_run();
  const json answer = json_of(history, {"incident", "--last-oom"});
  CHECK(answer["victims"].empty());
  CHECK(answer["totals"]["oom_kills"] == 1);
  CHECK(answer["story"].get<std::string>().find("killed 1 process (victim unknown), after hog grew by") !=
        std::string::npos);
  CHECK(answer["rows"][1]["what"].get<std::string>().starts_with("exited"));
}

TEST_CASE("incident: the culprit's growth is no share of a total that fell") {
  History history;
  history.begin_run("bpf");
  history.machine(8 * kGib);
  history.oom_kills(0);
  history.birth(10, {"db", "/usr/bin/db", "data", "db", "/system.slice/db.service"}, 5 * kGib);
  history.birth(20, {"report.py", "report.py --all", "job", "root", "/system.slice/cron.service"}, kMib);
  history.tick(60);
  history.hold(10, 2 * kGib);
  history.hold(20, 500 * kMib);
  history.machine(6 * kGib);
  history.tick();
  history.oom_kills(1);
  history.tick(40);
  history.end_run();
  const std::string page = text_of(history, {"incident", "--format", "html"});
  const std::string culprit = page.substr(page.find("Culprit"), 200);
  CAPTURE(culprit);
  CHECK(culprit.find("report.py") != std::string::npos);
  CHECK(culprit.find("; in total -2.0") != std::string::npos);
}

TEST_CASE("incident: without an OOM kill the worst pressure is shown, otherwise the lowest available memory") {
  History history;
  history.begin_run("bpf");
  history.machine(4 * kGib);
  history.machine(MachineField::psi_some_total, 0);
  history.birth(10, {"server", "server"}, kGib);
  history.tick(60);
  history.hold(10, 2 * kGib);
  history.machine(9 * kGib);
  history.tick();
  history.machine(4 * kGib);
  history.tick(60);
  const json calm = json_of(history, {"incident"});
  CHECK(calm["moment"] == "available");
  CHECK(calm["story"].get<std::string>().find("Available memory was lowest at 7.0 GiB") != std::string::npos);
  history.machine(MachineField::psi_some_total, 200'000'000);
  history.tick(40);
  history.end_run();
  const json pressed = json_of(history, {"incident"});
  CHECK(pressed["moment"] == "pressure");
  CHECK(pressed["totals"]["stalled_percent"] > 5);
  const Outcome none = ask(history, {"incident", "--last-oom"});
  CHECK(none.exit == Exit::empty);
  CHECK(none.out.find("no OOM kill is recorded") != std::string::npos);
}

TEST_CASE("incident: the process that grew most has its leak rate and the leak's start") {
  History history(600'000);
  history.begin_run("bpf");
  history.machine(8 * kGib);
  history.oom_kills(0);
  const Person shop{"java", "java -jar shop.jar", "app", "app", kApp};
  history.birth(812, shop, 4 * kGib);
  history.birth(10, {"db", "/usr/bin/db", "data", "db", "/system.slice/db.service"}, 3 * kGib);
  const bool leaks = GENERATE(true, false);
  constexpr std::int64_t a_day = 144;
  for (std::int64_t at = 0; at < 6 * a_day; ++at) {
    history.hold(812, 4 * kGib + (leaks ? at * 240 * kMib / a_day : 0));
    history.hold(10, 3 * kGib + (at % 5) * kMib);
    history.tick();
  }
  history.hold(812, 6 * kGib);
  history.tick();
  history.oom_victim({812, "java", kApp, history.now_ms() - 2'500, 6 * kGib, 6 * kGib, {}});
  history.death(812);
  history.oom_kills(1);
  history.tick(3);
  history.end_run();
  const std::string story = json_of(history, {"incident", "--window", "1h"})["story"];
  CAPTURE(story);
  CHECK((story.find(" It had been leaking ") != std::string::npos) == leaks);
  if (leaks) CHECK(story.find(" MiB per day since ") != std::string::npos);
  if (leaks) CHECK(std::stod(story.substr(story.find(" leaking ") + 9)) == Approx(240).epsilon(0.1));
}

TEST_CASE("incident: a kill in a container has the container's name") {
  const std::string id(64, 'a');
  const std::string cgroup = "/system.slice/docker-" + id + ".scope";
  History history;
  history.begin_run("bpf");
  history.machine(8 * kGib);
  history.oom_kills(0);
  history.birth(7, {"node", "node app.js", "web", "root", cgroup}, kGib);
  history.cgroup({cgroup, kGib, {}, {}, kGib, {}, {}});
  history.container({cgroup, {"docker", id, "shop", "registry/shop:7", "", ""}});
  history.tick(60);
  history.oom_victim({7, "node", cgroup, history.now_ms() - 500, kGib, kGib, {}});
  history.death(7);
  history.oom_kills(1);
  history.tick(2);
  history.end_run();
  const json answer = json_of(history, {"incident", "--last-oom"});
  const std::string story = answer["story"];
  CAPTURE(story);
  CHECK(story.find("killed node (7) in the container shop (docker:aaaaaaaaaaaa)") != std::string::npos);
}

TEST_CASE("incident: wrong arguments are reported") {
  CHECK(ask(recorded<record>(), {"incident", "--window", "soon"}).exit == Exit::usage);
  CHECK(ask(recorded<record>(), {"incident", "--window", "2d"}).exit == Exit::usage);
  CHECK(ask(recorded<record>(), {"incident", "--last-oom", "--at", "00:10"}).exit == Exit::usage);
  CHECK(ask(recorded<record>(), {"incident", "--at", "2020-01-01"}).exit == Exit::empty);
}

TEST_CASE("incident: the data around it can be extracted to a file, which gives the same answers") {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path() + "/ticket.db";
  const json answer = json_of(recorded<record>(), {"incident", "--extract", path});
  CHECK(answer["totals"]["extract"] == path);
  const json again = test::json_of(path, recorded<record>().now_ms(), {"incident"});
  CHECK(again["rows"][1]["title"] == answer["rows"][1]["title"]);
  CHECK(ask(recorded<record>(), {"incident", "--extract", path}).exit == Exit::failed);
  CHECK(ask(recorded<record>(), {"incident", "--extract", path, "--force"}).exit == Exit::answered);
}

TEST_CASE("incident: a victim of a user-space killer is reported with its killer, without a limit") {
  History history;
  history.begin_run("bpf");
  history.machine(4 * kGib);
  history.oom_kills(0);
  history.tell_ends();
  history.birth(10, {"java", "java -jar shop.jar", "app", "app", kApp}, kGib);
  history.birth(11, {"db", "/usr/bin/db", "data", "db", "/system.slice/db.service"}, kGib);
  history.tick(30);
  history.hold(10, 2 * kGib);
  history.tick();
  OomVictim java{10, "java", kApp, history.now_ms() - 2'500, 2 * kGib, 3 * kGib};
  java.killer = {"earlyoom", 512, SIGTERM};
  java.held = {.anon_kib = kGib, .file_kib = kGib, .shmem_kib = 0, .swap_kib = 64};
  const bool killed = GENERATE(true, false);
  if (killed) {
    history.death(10);
  } else {
    java.peak_kib.reset();
  }
  history.oom_victim(java);
  history.tick(3);
  history.end_run();
  const json answer = json_of(history, {"incident", "--last-oom"});
  const auto story = answer["story"].get<std::string>();
  CAPTURE(story);
  CHECK(answer["moment"] == "oom-kill");
  CHECK(story.starts_with(
      killed ? "earlyoom (512) killed java (10) in app.service with SIGTERM; its RSS peaked at 3.0 GiB."
             : "earlyoom (512) sent SIGTERM to java (10) in app.service, which kept running."));
  CHECK(story.find("limit") == std::string::npos);
  REQUIRE(answer["victims"].size() == 1);
  const json& victim = answer["victims"][0];
  CHECK(victim["killer"] == "earlyoom");
  CHECK(victim["killer_pid"] == 512);
  CHECK(victim["signal"] == SIGTERM);
  CHECK(victim["anon_kib"] == kGib);
  CHECK(victim["swap_kib"] == 64);
  CHECK(victim["limit_kib"].is_null());
  CHECK(answer["rows"][1]["title"] == "shop.jar in app.service");
  CHECK(answer["rows"][1]["what"].is_null() == !killed);
  const std::string page = ask(history, {"incident"}).out;
  CAPTURE(page);
  CHECK(page.find(killed ? "Killed     none by the OOM killer, 1 process by earlyoom; 0 restarted"
                         : "Killed     none by the OOM killer; 0 restarted") != std::string::npos);
}

TEST_CASE("incident: the last kill may be by the kernel or by a user-space killer") {
  History history;
  history.begin_run("bpf");
  history.machine(kGib);
  history.oom_kills(0);
  history.birth(10, {"hog", "hog"}, 100 * kMib);
  history.tick(5);
  OomVictim hog{10, "hog", "", history.now_ms() - 5'000};
  hog.killer = {"systemd-oomd", 512, SIGKILL};
  history.oom_victim(hog);
  history.tick();
  const bool counted_later = GENERATE(false, true);
  if (counted_later) history.oom_kills(1);
  history.tick(3);
  history.end_run();
  const auto story = json_of(history, {"incident", "--last-oom"})["story"].get<std::string>();
  CAPTURE(story);
  CHECK(
      story.starts_with(counted_later ? "The OOM killer killed 1 process" : "systemd-oomd (512) killed hog (10) with"));
}

}  // namespace incident_test
