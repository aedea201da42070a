// memoir incidents: one line for each event that concerned memory.

#include <algorithm>
#include <csignal>

#include <nlohmann/json.hpp>

#include "query/ask.h"
#include "query/golden.h"
#include "query/history.h"
#include "support/catch.h"

namespace incidents_test {

using namespace memoir;
using namespace memoir::query;
using memoir::test::History;
using memoir::test::recorded;
using nlohmann::json;

namespace {

constexpr std::int64_t kMib = 1024;
constexpr std::int64_t kGib = 1024 * kMib;
constexpr const char* kShop = "/system.slice/shop.service";
constexpr const char* kCache = "/system.slice/cache.service";

OomVictim victim_at_limit(const History& history, std::int32_t pid, const char* comm, const std::string& cgroup) {
  return {
      pid,
      comm,
      cgroup,
      history.now_ms() - 2'500,
      200 * kMib,
      210 * kMib,
      OomDetail{.scope = OomScope::cgroup, .limit_cgroup = cgroup, .usage_kib = 256 * kMib, .limit_kib = 256 * kMib}};
}

void killed(History& history, std::int32_t pid, const char* comm, std::int64_t kills) {
  history.birth(pid, {comm, comm, "app", "www-data", kShop}, 200 * kMib);
  history.tick(6);
  history.oom_victim(victim_at_limit(history, pid, comm, kShop));
  history.death(pid);
  history.oom_kills(kills);
  history.tick();
}

// Two kills within ten minutes and one an hour later; in between a cgroup limit, a full tmpfs, full swap and pressure.
void record(History& history) {
  history.begin_run("bpf");
  history.machine(4 * kGib);
  history.machine(MachineField::psi_some_total, 0);
  history.oom_kills(0);
  history.tell_ends();
  CgroupSample cache;
  cache.path = kCache;
  cache.current_kib = 100 * kMib;
  cache.max_kib = 128 * kMib;
  cache.file_kib = 90 * kMib;
  CgroupDetail counters;
  counters.path = kCache;
  counters.max_events = 0;
  counters.high_events = 0;
  counters.psi_some_total_us = 0;
  history.cgroup(cache);
  history.cgroup_detail(counters);
  history.birth(10, {"cached", "cached", "cache", "cache", kCache}, 10 * kMib);
  history.tick(30);
  killed(history, 100, "worker", 1);
  killed(history, 101, "worker", 2);
  history.tick(90);
  // Reclaiming page cache at the limit is normal.
  counters.max_events = 500;
  history.cgroup_detail(counters);
  history.tick(110);
  // Reaching the limit with other memory is an incident.
  cache.current_kib = 127 * kMib;
  cache.file_kib = 5 * kMib;
  counters.max_events = 520;
  history.cgroup(cache);
  history.cgroup_detail(counters);
  history.tick(90);
  TmpfsSample run;
  run.mount_point = "/run";
  run.limit_kib = 64 * kMib;
  run.used_kib = 63 * kMib;
  history.tmpfs({run});
  history.tick(30);
  run.used_kib = kMib;
  history.tmpfs({run});
  history.tick(90);
  history.machine(4 * kGib, 4 * kGib);
  history.tick(30);
  history.machine(4 * kGib, 0);
  history.tick(90);
  for (int i = 1; i <= 60; ++i) {
    history.machine(MachineField::psi_some_total, i * 4'000'000);
    history.tick();
  }
  history.tick(90);
  killed(history, 102, "worker", 3);
  OomVictim other{10, "cached", kCache, history.now_ms() - 2'500, 10 * kMib, 11 * kMib};
  other.killer = {"earlyoom", 512, SIGKILL};
  history.tick(3);
  other.at_ms = history.now_ms() - 2'500;
  history.oom_victim(other);
  history.death(10);
  history.tick(60);
  history.end_run();
}

std::vector<std::string> kinds_of(const json& answer) {
  std::vector<std::string> kinds;
  for (const json& row : answer["rows"]) kinds.push_back(row["kind"]);
  return kinds;
}

}  // namespace

TEST_CASE("incidents: golden answers") {
  test::check_formats("incidents", recorded<record>(), {"incidents"}, true);
}

TEST_CASE("incidents: one line for each, the latest first; kills in one cgroup within ten minutes are one") {
  const json answer = json_of(recorded<record>(), {"incidents"});
  CAPTURE(answer["rows"].dump(1));
  CHECK(kinds_of(answer) ==
        std::vector<std::string>{"killer", "oom-kill", "pressure", "swap-full", "tmpfs-full", "limit", "oom-kill"});
  const json& rows = answer["rows"];
  for (std::size_t i = 0; i < rows.size(); ++i) CHECK(rows[i]["number"] == i + 1);
  CHECK(rows[6]["kills"] == 2);
  CHECK(rows[1]["kills"] == 1);
  CHECK(rows[1]["limit_kib"] == 256 * kMib);
  CHECK(rows[1]["cgroup"] == kShop);
  CHECK(rows[1]["text"] == "The OOM killer killed worker (102) when shop.service reached its 256.0 MiB limit");
  CHECK(rows[0]["text"] == "earlyoom (512) killed cached (10) in cache.service with SIGKILL");
  CHECK(rows[4]["text"] == "The tmpfs /run was full: 63.0 MiB of 64.0 MiB");
  CHECK(rows[5]["text"].get<std::string>().starts_with("cache.service reached its 128.0 MiB limit 20 times"));
  CHECK(rows[2]["cgroup"].is_null());
  CHECK(rows[2]["kills"].is_null());
}

TEST_CASE("incidents: a range, a kind and a subject select incidents, whose numbers stay") {
  const History& history = recorded<record>();
  const json all = json_of(history, {"incidents"});
  const json early = json_of(history, {"incidents", "--to", "00:10"});
  REQUIRE(early["rows"].size() == 1);
  CHECK(early["rows"][0]["number"] == 7);
  CHECK(early["rows"][0] == all["rows"][6]);
  for (const char* kind : {"oom-kill", "oom"})
    CHECK(json_of(history, {"incidents", "--kind", kind})["rows"].size() == 2);
  for (const char* subject : {"shop.service", "shop", "worker", "unit:shop.service"}) {
    CAPTURE(subject);
    CHECK(kinds_of(json_of(history, {"incidents", subject})) == std::vector<std::string>{"oom-kill", "oom-kill"});
  }
  CHECK(json_of(history, {"incidents", "user:www-data"})["rows"].size() == 2);
  CHECK(json_of(history, {"incidents", "101"})["rows"].size() == 1);
  CHECK(kinds_of(json_of(history, {"incidents", "cache.service"})) == std::vector<std::string>{"killer", "limit"});
  CHECK(json_of(history, {"incidents", "machine"})["rows"].size() == 3);
  CHECK(ask(history, {"incidents", "nosuch"}).exit == Exit::empty);
  CHECK(ask(history, {"incidents", "--kind", "nosuch"}).exit == Exit::usage);
}

TEST_CASE("incidents: the table fits 80 columns and names the command that shows an incident") {
  const std::string page = text_of(recorded<record>(), {"incidents"});
  CAPTURE(page);
  CHECK(page.find("memoir incident 1") != std::string::npos);
  CHECK(page.find("shop.service reached its") != std::string::npos);
}

TEST_CASE("incidents: kills that only counters show are one line, with their cgroup if it is known") {
  History history;
  history.begin_run("proc");
  history.machine(kGib);
  history.oom_kills(0);
  history.birth(10, {"hog", "hog"}, 100 * kMib);
  history.tick(30);
  history.death(10);
  history.oom_kills(1);
  history.tick();
  history.oom_kills(3);
  history.tick(3);
  history.end_run();
  const json rows = json_of(history, {"incidents"})["rows"];
  REQUIRE(rows.size() == 1);
  CHECK(rows[0]["kills"] == 3);
  CHECK(rows[0]["cgroup"].is_null());
  CHECK(rows[0]["text"] == "The OOM killer killed 3 processes (victim unknown)");
}

TEST_CASE("incidents: events at limits are kept when ticks expire or the recorder restarts") {
  History history(600'000);
  history.begin_run("bpf");
  history.machine(4 * kGib);
  CgroupSample cache;
  cache.path = kCache;
  cache.current_kib = 127 * kMib;
  cache.max_kib = 128 * kMib;
  cache.file_kib = 5 * kMib;
  CgroupDetail counters;
  counters.path = kCache;
  counters.max_events = 0;
  history.cgroup(cache);
  history.cgroup_detail(counters);
  history.birth(10, {"cached", "cached", "cache", "cache", kCache}, 10 * kMib);
  history.tick(3);
  TmpfsSample run;
  run.mount_point = "/run\n";
  run.limit_kib = 64 * kMib;
  run.used_kib = 63 * kMib;
  history.tmpfs({run});
  counters.max_events = 20;
  history.cgroup_detail(counters);
  history.tick(2);
  history.kill();  // the recorder is killed while the tmpfs is full
  history.begin_run("bpf");
  history.tmpfs({run});
  history.tick(2);
  run.used_kib = kMib;
  history.tmpfs({run});
  for (int day = 0; day < 10; ++day) {
    history.tick(144);
    history.maintain();
  }
  history.end_run();
  REQUIRE(json_of(history, {"top", "--at", "2026-11-19 00:30"})["tier"] != "raw");
  const json rows = json_of(history, {"incidents"})["rows"];
  CAPTURE(rows.dump(1));
  REQUIRE(rows.size() == 2);
  CHECK(rows[0]["kind"] == "limit");
  CHECK(rows[0]["text"].get<std::string>().starts_with("cache.service reached its 128.0 MiB limit 20 times"));
  CHECK(rows[1]["kind"] == "tmpfs-full");
  CHECK(rows[1]["to_ms"].get<std::int64_t>() - rows[1]["from_ms"].get<std::int64_t>() >= 3 * 600'000);
  CHECK(json_of(history, {"incident", "1"})["moment"] == "limit");
  CHECK(json_of(history, {"incident", "2"})["moment"] == "tmpfs-full");
}

TEST_CASE("incidents: a cgroup that is throttled at memory.high, and fast growth of the machine without a kill") {
  History history;
  history.begin_run("bpf");
  history.machine(4 * kGib);
  history.machine(MachineField::psi_some_total, 0);
  history.oom_kills(0);
  CgroupSample cache;
  cache.path = kCache;
  cache.current_kib = 127 * kMib;
  cache.high_kib = 128 * kMib;
  cache.file_kib = 5 * kMib;
  CgroupDetail counters;
  counters.path = kCache;
  counters.high_events = 0;
  counters.psi_some_total_us = 0;
  history.cgroup(cache);
  history.cgroup_detail(counters);
  history.birth(10, {"cached", "cached", "cache", "cache", kCache}, 120 * kMib);
  history.tick(30);
  counters.high_events = 400;
  counters.psi_some_total_us = 5'000'000;
  history.cgroup_detail(counters);
  history.tick(90);
  history.machine(11 * kGib);
  history.birth(20, {"batch", "batch", "job", "root", "/system.slice/batch.service"}, 7 * kGib);
  history.tick(90);
  history.end_run();
  const json rows = json_of(history, {"incidents"})["rows"];
  CAPTURE(rows.dump(1));
  REQUIRE(kinds_of({{"rows", rows}}) == std::vector<std::string>{"growth", "throttled"});
  CHECK(
      rows[0]["text"].get<std::string>().starts_with("Memory in use grew by 7.0 GiB to 11.0 GiB of 16.0 GiB within "));
  CHECK(rows[1]["text"].get<std::string>().starts_with("cache.service reached its 128.0 MiB memory.high 400 times"));
  CHECK(rows[1]["cgroup"] == kCache);
  const json growth = json_of(history, {"incident", "1"});
  CHECK(growth["moment"] == "growth");
  CHECK(growth["scope"] == "machine");
  CHECK(growth["story"].get<std::string>().find("batch in batch.service started and used 7.0 GiB") !=
        std::string::npos);
  const json throttled = json_of(history, {"incident", "cache.service"});
  CHECK(throttled["moment"] == "throttled");
  CHECK(throttled["scope_limit_kib"] == 128 * kMib);
}

TEST_CASE("incidents: a quiet file has none, and an empty file is reported as such") {
  History history;
  history.begin_run();
  CHECK(ask(history, {"incidents"}).exit == Exit::empty);
  history.tick(60);
  history.end_run();
  const Outcome quiet = ask(history, {"incidents"});
  CHECK(quiet.exit == Exit::answered);
  CHECK(quiet.out.find("No incident is recorded in this range.") != std::string::npos);
}

}  // namespace incidents_test
