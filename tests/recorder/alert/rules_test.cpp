#include "recorder/alert/rules.h"

#include "support/catch.h"

using namespace memoir;

namespace {

constexpr std::int64_t kHour = 3'600'000;

const AlertLimits kLimits{
    .on = true, .pressure_ppm = 200'000, .leak_ms = 24 * kHour, .every_ms = 900'000, .leak_every_ms = 24 * kHour};

AlertRules rules(const AlertLimits& limits = kLimits) {
  AlertRules made;
  made.set(limits);
  return made;
}

Tick quiet_tick(std::int64_t boot_ms) {
  Tick tick;
  tick.begin = {.wall_ms = 1'000'000'000 + boot_ms, .boot_ms = boot_ms};
  return tick;
}

Tick with_victim(std::int64_t boot_ms) {
  Tick tick = quiet_tick(boot_ms);
  tick.oom_victims = {
      {.pid = 17, .comm = "shop\x1b[m", .cgroup = "/shop.service", .at_ms = 999, .held_kib = 48 * 1024}};
  return tick;
}

Tick with_pressure(std::int64_t boot_ms, std::int64_t percent) {
  Tick tick = quiet_tick(boot_ms);
  tick.machine.memory.set(MachineField::psi_some_avg60, percent * 100);
  return tick;
}

Forecast leaking(const std::string& subject, std::int64_t in_ms) {
  return {.subject = subject, .title = subject, .limit = "memory.max of /a", .in_ms = in_ms, .confidence = 70};
}

}  // namespace

TEST_CASE("alerts: an OOM kill causes one that names the victim and the time") {
  AlertRules made = rules();
  const auto due = made.see(with_victim(5'000));
  REQUIRE(due.size() == 1);
  CHECK(due[0].reason == AlertReason::oom_kill);
  CHECK(due[0].at_ms == 999);
  CHECK(due[0].tick_ms == 5'000);
  CHECK(due[0].text == "The OOM killer killed shop\\x1b[m (17) in shop.service; its last RSS was 48 MiB.");
}

TEST_CASE("alerts: a kill at a limit names the unit or container with the limit, without its path") {
  Tick tick = with_victim(0);
  OomVictim& victim = tick.oom_victims[0];
  victim.cgroup = "/shop.slice/shop.service/worker";
  victim.detail = {.scope = OomScope::cgroup, .limit_cgroup = "/shop.slice/shop.service", .limit_kib = 256 * 1024};
  const auto due = rules().see(tick);
  CHECK(due.at(0).text ==
        "The OOM killer killed shop\\x1b[m (17) when shop.service reached its 256 MiB limit; its last RSS was 48 MiB.");
  CHECK(due.at(0).subject == "/shop.slice/shop.service/worker");
  victim.detail.reset();
  victim.cgroup = "/system.slice/docker-" + std::string(64, 'a') + ".scope";
  CHECK(rules().see(tick).at(0).text ==
        "The OOM killer killed shop\\x1b[m (17) in the container docker:aaaaaaaaaaaa; its last RSS was 48 MiB.");
}

TEST_CASE("alerts: the first of several victims is named, or the cgroup if the victim is unknown") {
  Tick tick = with_victim(0);
  tick.oom_victims.resize(3, OomVictim(tick.oom_victims[0]));
  CHECK(rules().see(tick).at(0).text.ends_with("; and 2 more."));
  Tick counted = quiet_tick(0);
  counted.oom_kills = {{.cgroup = "/a", .count = 2}};
  CHECK(rules().see(counted).at(0).text == "OOM kill in a.");
  CHECK(rules().see(counted).at(0).at_ms == counted.begin.wall_ms);
}

TEST_CASE("alerts: a user-space killer is named, and a process that received only SIGTERM causes no alert") {
  Tick tick = with_victim(0);
  OomVictim warned{.pid = 18, .comm = "patient", .cgroup = "", .at_ms = 998, .killer = OomKiller{"earlyoom", 5, 15}};
  tick.oom_victims.insert(tick.oom_victims.begin(), warned);
  const auto kernel = rules().see(tick);
  REQUIRE(kernel.size() == 1);
  CHECK(kernel[0].at_ms == 999);
  CHECK(kernel[0].text == "The OOM killer killed shop\\x1b[m (17) in shop.service; its last RSS was 48 MiB.");
  tick.oom_victims.resize(1);
  CHECK(rules().see(tick).empty());
  tick.oom_victims[0].peak_kib = 1;
  CHECK(rules().see(tick).at(0).text == "earlyoom (5) killed patient (18) with SIGTERM.");
  tick.oom_victims[0].peak_kib.reset();
  tick.oom_kills = {{.cgroup = "/a", .count = 1}};
  CHECK(rules().see(tick).at(0).text == "OOM kill in a.");
}

TEST_CASE("alerts: a kill that only the machine's counter shows causes one, but the counter's first value does not") {
  const auto counted = [](std::int64_t boot_ms, std::int64_t kills) {
    Tick tick = quiet_tick(boot_ms);
    tick.machine.memory.set(MachineField::oom_kill, kills);
    return tick;
  };
  constexpr std::int64_t later = 1'000'000;
  AlertRules made = rules();
  CHECK(made.see(counted(0, 7)).empty());
  CHECK(made.see(counted(1, 7)).empty());
  CHECK(made.see(quiet_tick(2)).empty());
  CHECK(made.see(counted(3, 8)).empty());
  CHECK(made.see(counted(4, 8)).empty());
  const auto due = made.see(counted(5, 8));
  REQUIRE(due.size() == 1);
  CHECK(due[0].text == "OOM kill, cgroup unknown.");
  CHECK(due[0].at_ms == quiet_tick(3).begin.wall_ms);
  CHECK(made.see(counted(later, 8)).empty());
  // A kill reported by a cgroup is not reported again when the machine counts it.
  Tick ahead = counted(later + 1, 8);
  ahead.oom_kills = {{.cgroup = "/a", .count = 1}};
  CHECK(made.see(ahead).size() == 1);
  CHECK(made.see(counted(2 * later + 1, 9)).empty());
  CHECK(made.see(counted(2 * later + 2, 10)).empty());
  CHECK(made.see(quiet_tick(2 * later + 3)).empty());
  CHECK(made.see(quiet_tick(2 * later + 4)).size() == 1);
}

TEST_CASE("alerts: a kill whose cgroup is known a tick later causes one alert with the cgroup") {
  AlertRules made = rules();
  Tick tick = quiet_tick(0);
  tick.machine.memory.set(MachineField::oom_kill, 7);
  CHECK(made.see(tick).empty());
  tick.machine.memory.set(MachineField::oom_kill, 8);
  CHECK(made.see(tick).empty());
  const auto due = made.see(with_victim(1'000));
  REQUIRE(due.size() == 1);
  CHECK(due[0].subject == "/shop.service");
  for (std::int64_t ms = 2'000; ms < 6'000; ms += 1'000) CHECK(made.see(quiet_tick(ms)).empty());
}

TEST_CASE("alerts: a kill in one cgroup does not mute another cgroup, and each cgroup of a tick has its own alert") {
  AlertRules made = rules();
  CHECK(made.see(with_victim(1'000)).size() == 1);
  Tick tick = with_victim(2'000);
  OomVictim other = tick.oom_victims[0];
  other.cgroup = "/db.service";
  other.pid = 18;
  tick.oom_victims = {tick.oom_victims[0], other, other};
  const auto due = made.see(tick);
  REQUIRE(due.size() == 1);
  CHECK(due[0].subject == "/db.service");
  CHECK(due[0].text.ends_with("; and 1 more."));
  CHECK(made.see(with_victim(901'000)).size() == 1);
}

TEST_CASE("alerts: kills in any number of cgroups cause a bounded number of alerts") {
  AlertRules made = rules();
  Tick tick = quiet_tick(0);
  for (int i = 0; i < 1'000; ++i) tick.oom_kills.push_back({.cgroup = "/" + std::to_string(i), .count = 1});
  CHECK(made.see(tick).size() == 100);
}

TEST_CASE("alerts: kills counted before the program was configured cause none") {
  AlertRules made;
  Tick tick = quiet_tick(0);
  for (const std::int64_t kills : {1, 2}) {
    tick.machine.memory.set(MachineField::oom_kill, kills);
    CHECK(made.see(tick).empty());
  }
  made.set(kLimits);
  CHECK(made.see(tick).empty());
}

TEST_CASE("alerts: alerts of the same kind keep the minimum interval, and other kinds do not wait") {
  AlertRules made = rules();
  CHECK(made.see(with_victim(1'000)).size() == 1);
  CHECK(made.see(with_victim(2'000)).empty());
  CHECK(made.see(with_pressure(3'000, 20)).size() == 1);
  CHECK(made.see(with_victim(900'999)).empty());
  CHECK(made.see(with_victim(901'000)).size() == 1);
  CHECK(made.see(with_pressure(902'999, 90)).empty());
  CHECK(made.see(with_pressure(903'000, 90)).size() == 1);
}

TEST_CASE("alerts: pressure causes one from the configured value on, if the kernel reports pressure") {
  CHECK(rules().see(with_pressure(0, 19)).empty());
  const auto due = rules().see(with_pressure(0, 25));
  REQUIRE(due.size() == 1);
  CHECK(due[0].text == "Tasks waited for memory 25% of the last minute.");
  CHECK(rules().see(quiet_tick(0)).empty());
  AlertLimits off = kLimits;
  off.pressure_ppm = 0;
  CHECK(rules(off).see(with_pressure(0, 100)).empty());
}

TEST_CASE("alerts: a leak that exhausts memory soon causes one, once a day") {
  AlertRules made = rules();
  const auto first = made.see({leaking("a", kHour), leaking("b", 25 * kHour)}, {.wall_ms = 7, .boot_ms = 0});
  REQUIRE(first);
  CHECK(first->reason == AlertReason::leak);
  CHECK(first->at_ms == 7);
  CHECK(first->text == "a leaks and will exhaust memory.max of /a within 60 min (confidence 70 of 100).");
  CHECK_FALSE(made.see({leaking("a", kHour), leaking("b", 25 * kHour)}, {.wall_ms = 8, .boot_ms = kHour}));
  const auto second = made.see({leaking("a", kHour), leaking("b", 23 * kHour)}, {.wall_ms = 9, .boot_ms = 2 * kHour});
  REQUIRE(second);
  CHECK(second->text.starts_with("b leaks "));
  CHECK(made.see({leaking("a", kHour)}, {.wall_ms = 9, .boot_ms = 24 * kHour}));
  CHECK_FALSE(made.see({leaking("b", kHour)}, {.wall_ms = 9, .boot_ms = 25 * kHour}));
}

TEST_CASE("alerts: an alert of a leak waits for the interval after another leak's") {
  AlertRules made = rules();
  CHECK(made.see({leaking("a", kHour)}, {.wall_ms = 1, .boot_ms = 0}));
  const std::vector<Forecast> both{leaking("a", kHour), leaking("b", kHour)};
  CHECK_FALSE(made.see(both, {.wall_ms = 2, .boot_ms = 899'999}));
  const auto due = made.see(both, {.wall_ms = 3, .boot_ms = 900'000});
  REQUIRE(due);
  CHECK(due->text.starts_with("b leaks "));
  CHECK(made.see(with_victim(900'001)).size() == 1);
}

TEST_CASE("alerts: many leaks at once cause one") {
  const auto due =
      rules().see({leaking("a", 1), leaking("b", 1), leaking("c", 1), leaking("d", 1), leaking("e", 1)}, {});
  REQUIRE(due);
  CHECK(due->text.ends_with("; and 2 more."));
  CHECK(due->text.find("d leaks") == std::string::npos);
}

TEST_CASE("alerts: without a program, or with leaks off, none is due") {
  AlertLimits limits = kLimits;
  limits.on = false;
  CHECK(rules(limits).see(with_victim(0)).empty());
  CHECK_FALSE(rules(limits).see({leaking("a", 1)}, {}));
  limits = kLimits;
  limits.leak_ms = 0;
  CHECK_FALSE(rules(limits).see({leaking("a", 1)}, {}));
}

namespace {

AlertLimits with_levels() {
  AlertLimits limits = kLimits;
  limits.limit_ppm = limits.tmpfs_ppm = limits.swap_ppm = 950'000;
  return limits;
}

CgroupSample cgroup(const std::string& path, std::int64_t current_mib, std::int64_t file_mib) {
  CgroupSample sample;
  sample.path = path;
  sample.current_kib = current_mib * 1024;
  sample.file_kib = file_mib * 1024;
  sample.max_kib = 100 * 1024;
  return sample;
}

Tick with_cgroup(std::int64_t boot_ms, std::int64_t current_mib, std::int64_t file_mib = 0) {
  Tick tick = quiet_tick(boot_ms);
  tick.cgroups = {cgroup("/shop.service", current_mib, file_mib)};
  return tick;
}

Forecast confirmed(const std::string& subject) {
  return {.subject = subject,
          .title = subject,
          .limit = "",
          .in_ms = {},
          .confidence = 70,
          .confirmed = true,
          .kib_per_day = 12 * 1024};
}

}  // namespace

TEST_CASE("alerts: a cgroup at its limit causes one, and another only after its usage was low") {
  AlertRules made = rules(with_levels());
  CHECK(made.see(with_cgroup(0, 94)).empty());
  CHECK(made.see(with_cgroup(1'000, 99, 50)).empty());
  const auto due = made.see(with_cgroup(2'000, 97));
  REQUIRE(due.size() == 1);
  CHECK(due[0].reason == AlertReason::limit);
  CHECK(to_string(due[0].reason) == "limit");
  CHECK(due[0].subject == "/shop.service");
  CHECK(due[0].text == "shop.service: 97 MiB of 100 MiB in use, 97%.");
  CHECK(made.see(with_cgroup(3'000, 50)).empty());
  CHECK(made.see(with_cgroup(4'000, 97)).empty());
  CHECK(made.see(with_cgroup(2'000'000, 97)).empty());
  CHECK(made.see(with_cgroup(2'001'000, 90)).empty());
  CHECK(made.see(with_cgroup(2'002'000, 97)).empty());
  CHECK(made.see(with_cgroup(2'003'000, 80)).empty());
  CHECK(made.see(with_cgroup(2'004'000, 97)).size() == 1);
}

TEST_CASE("alerts: a cgroup at its limit does not mute another, memory.high counts, a kill causes no second alert") {
  AlertRules made = rules(with_levels());
  CHECK(made.see(with_cgroup(0, 97)).size() == 1);
  Tick tick = with_cgroup(1'000, 97);
  CgroupSample other = cgroup("/db.service", 60, 0);
  other.high_kib = 61 * 1024;
  tick.cgroups.push_back(other);
  const auto due = made.see(tick);
  REQUIRE(due.size() == 1);
  CHECK(due[0].subject == "/db.service");
  AlertRules after_kill = rules(with_levels());
  Tick killed = with_victim(0);
  killed.cgroups = with_cgroup(0, 100).cgroups;
  const auto kill = after_kill.see(killed);
  REQUIRE(kill.size() == 1);
  CHECK(kill[0].reason == AlertReason::oom_kill);
}

TEST_CASE("alerts: a full tmpfs causes one when it is read, and exhausted swap does") {
  AlertRules made = rules(with_levels());
  Tick tick = quiet_tick(0);
  TmpfsSample run;
  run.mount_point = "/run";
  run.limit_kib = 100 * 1024;
  run.used_kib = 96 * 1024;
  TmpfsSample unknown;
  unknown.mount_point = "/tmp";
  tick.tmpfs = {run, unknown};
  tick.machine.memory.set(MachineField::swap_total, 200 * 1024);
  tick.machine.memory.set(MachineField::swap_free, 0);
  const auto due = made.see(tick);
  REQUIRE(due.size() == 2);
  CHECK(due[0].text == "tmpfs /run: 96 MiB of 100 MiB in use, 96%.");
  CHECK(due[0].tick_ms > tick.begin.boot_ms);  // its entries are in the next tick
  CHECK(due[1].text == "Swap: 200 MiB of 200 MiB in use, 100%.");
  // A tick that did not read the mounts does not end the condition of the tmpfs, so only swap is alerted again.
  CHECK(made.see(quiet_tick(2'000'000)).empty());
  tick.begin = quiet_tick(3'000'000).begin;
  const auto again = made.see(tick);
  REQUIRE(again.size() == 1);
  CHECK(again[0].reason == AlertReason::swap);
  CHECK(rules().see(tick).empty());
}

TEST_CASE("alerts: a confirmed leak causes one for as long as it lasts") {
  AlertLimits limits = kLimits;
  limits.leak_confirmed = true;
  AlertRules made = rules(limits);
  const auto due = made.see({confirmed("a")}, {.wall_ms = 7, .boot_ms = 0});
  REQUIRE(due);
  CHECK(due->reason == AlertReason::leak_confirmed);
  CHECK(due->text == "a has been leaking 12 MiB a day for more than a day (confidence 70 of 100).");
  for (int hour = 1; hour < 80; ++hour)
    CHECK_FALSE(made.see({confirmed("a")}, {.wall_ms = 7, .boot_ms = hour * kHour}));
  const auto other = made.see({confirmed("a"), confirmed("b")}, {.wall_ms = 7, .boot_ms = 80 * kHour});
  REQUIRE(other);
  CHECK(other->text.starts_with("b has been leaking"));
  CHECK_FALSE(made.see({}, {.wall_ms = 7, .boot_ms = 110 * kHour}));
  CHECK(made.see({confirmed("a")}, {.wall_ms = 7, .boot_ms = 111 * kHour}));
  CHECK_FALSE(rules().see({confirmed("a")}, {.wall_ms = 7, .boot_ms = 0}));
}

TEST_CASE("forecasts: rows that leak and run out, as memoir leaks prints them") {
  const auto forecasts = parse_forecasts(R"({"schema": 1, "rows": [
    {"subject": "/usr/bin/a --b", "title": "a", "unit": null, "metric": "anon+swap", "leak": true,
     "limit": "memory.max of /a", "runs_out_in_ms": 5000, "confidence": 71.0, "confirmed": true,
     "slope_kib_per_day": 2048.4},
    {"subject": "machine", "title": "machine", "metric": "slab-unreclaimable", "leak": true, "limit": "the machine's memory",
     "runs_out_in_ms": 9000, "confidence": 30},
    {"subject": "steady", "title": "b", "metric": "anon+swap", "leak": false, "runs_out_in_ms": 1},
    {"subject": "far", "title": "c", "metric": "anon+swap", "leak": true, "runs_out_in_ms": null},
    7]})");
  REQUIRE(forecasts);
  REQUIRE(forecasts->size() == 3);
  CHECK((*forecasts)[2].in_ms == std::nullopt);
  CHECK((*forecasts)[0] == Forecast{.subject = "/usr/bin/a --b\n\nanon+swap",
                                    .title = "a",
                                    .limit = "memory.max of /a",
                                    .in_ms = 5000,
                                    .confidence = 71,
                                    .confirmed = true,
                                    .kib_per_day = 2048});
  CHECK((*forecasts)[1].title == "machine (slab-unreclaimable)");
}

TEST_CASE("forecasts: invalid output is an error") {
  for (const char* text : {"", "no", "[]", "{}", R"({"rows": 1})", R"({"rows": [)"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_forecasts(text));
  }
  CHECK(parse_forecasts(R"({"rows": []})")->empty());
}
