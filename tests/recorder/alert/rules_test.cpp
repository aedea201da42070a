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

TEST_CASE("alerts: an OOM kill has one, that names the victim and its time") {
  AlertRules made = rules();
  const auto due = made.see(with_victim(5'000));
  REQUIRE(due.size() == 1);
  CHECK(due[0].reason == AlertReason::oom_kill);
  CHECK(due[0].at_ms == 999);
  CHECK(due[0].tick_ms == 5'000);
  CHECK(due[0].text == "The OOM killer ended shop\\x1b[m (17) of /shop.service, which held 48 MiB.");
}

TEST_CASE("alerts: of several victims the first is named; where none is known, the cgroup") {
  Tick tick = with_victim(0);
  tick.oom_victims.resize(3);
  CHECK(rules().see(tick).at(0).text.ends_with("; and 2 more."));
  Tick counted = quiet_tick(0);
  counted.oom_kills = {{.cgroup = "/a", .count = 2}};
  CHECK(rules().see(counted).at(0).text == "There was an OOM kill in /a.");
  CHECK(rules().see(counted).at(0).at_ms == counted.begin.wall_ms);
}

TEST_CASE("alerts: a killer in user space is named, and whoever it only told to end has none") {
  Tick tick = with_victim(0);
  OomVictim warned{.pid = 18, .comm = "patient", .cgroup = "", .at_ms = 998, .killer = OomKiller{"earlyoom", 5, 15}};
  tick.oom_victims.insert(tick.oom_victims.begin(), warned);
  const auto kernel = rules().see(tick);
  REQUIRE(kernel.size() == 1);
  CHECK(kernel[0].at_ms == 999);
  CHECK(kernel[0].text == "The OOM killer ended shop\\x1b[m (17) of /shop.service, which held 48 MiB.");
  tick.oom_victims.resize(1);
  CHECK(rules().see(tick).empty());
  tick.oom_victims[0].peak_kib = 1;
  CHECK(rules().see(tick).at(0).text == "earlyoom (5) killed patient (18).");
  tick.oom_victims[0].peak_kib.reset();
  tick.oom_kills = {{.cgroup = "/a", .count = 1}};
  CHECK(rules().see(tick).at(0).text == "There was an OOM kill in /a.");
}

TEST_CASE("alerts: a kill that the machine's counter alone tells has one, once the counter was seen before") {
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
  const auto due = made.see(counted(3, 8));
  REQUIRE(due.size() == 1);
  CHECK(due[0].text == "There was an OOM kill; in which cgroup is not known.");
  CHECK(made.see(counted(later, 8)).empty());
  // What a cgroup told is not told again when the machine has it.
  Tick ahead = counted(later + 1, 8);
  ahead.oom_kills = {{.cgroup = "/a", .count = 1}};
  CHECK(made.see(ahead).size() == 1);
  CHECK(made.see(counted(2 * later + 1, 9)).empty());
  CHECK(made.see(counted(2 * later + 2, 10)).size() == 1);
}

TEST_CASE("alerts: what was counted before there was a program has none") {
  AlertRules made;
  Tick tick = quiet_tick(0);
  for (const std::int64_t kills : {1, 2}) {
    tick.machine.memory.set(MachineField::oom_kill, kills);
    CHECK(made.see(tick).empty());
  }
  made.set(kLimits);
  CHECK(made.see(tick).empty());
}

TEST_CASE("alerts: those of one reason keep their distance, those of others do not wait for it") {
  AlertRules made = rules();
  CHECK(made.see(with_victim(1'000)).size() == 1);
  CHECK(made.see(with_victim(2'000)).empty());
  CHECK(made.see(with_pressure(3'000, 20)).size() == 1);
  CHECK(made.see(with_victim(900'999)).empty());
  CHECK(made.see(with_victim(901'000)).size() == 1);
  CHECK(made.see(with_pressure(902'999, 90)).empty());
  CHECK(made.see(with_pressure(903'000, 90)).size() == 1);
}

TEST_CASE("alerts: pressure counts from what is configured on, and where the kernel tells it") {
  CHECK(rules().see(with_pressure(0, 19)).empty());
  const auto due = rules().see(with_pressure(0, 25));
  REQUIRE(due.size() == 1);
  CHECK(due[0].text == "In the last minute some process waited for memory 25% of the time.");
  CHECK(rules().see(quiet_tick(0)).empty());
  AlertLimits off = kLimits;
  off.pressure_ppm = 0;
  CHECK(rules(off).see(with_pressure(0, 100)).empty());
}

TEST_CASE("alerts: what runs out in time has one, each leak once a day") {
  AlertRules made = rules();
  const auto first = made.see({leaking("a", kHour), leaking("b", 25 * kHour)}, {.wall_ms = 7, .boot_ms = 0});
  REQUIRE(first);
  CHECK(first->reason == AlertReason::leak);
  CHECK(first->at_ms == 7);
  CHECK(first->text == "a leaks and will have used up memory.max of /a within 60 min (confidence 70 of 100).");
  CHECK_FALSE(made.see({leaking("a", kHour), leaking("b", 25 * kHour)}, {.wall_ms = 8, .boot_ms = kHour}));
  const auto second = made.see({leaking("a", kHour), leaking("b", 23 * kHour)}, {.wall_ms = 9, .boot_ms = 2 * kHour});
  REQUIRE(second);
  CHECK(second->text.starts_with("b leaks "));
  CHECK(made.see({leaking("a", kHour)}, {.wall_ms = 9, .boot_ms = 24 * kHour}));
  CHECK_FALSE(made.see({leaking("b", kHour)}, {.wall_ms = 9, .boot_ms = 25 * kHour}));
}

TEST_CASE("alerts: a leak that comes soon after another waits for its turn") {
  AlertRules made = rules();
  CHECK(made.see({leaking("a", kHour)}, {.wall_ms = 1, .boot_ms = 0}));
  const std::vector<Forecast> both{leaking("a", kHour), leaking("b", kHour)};
  CHECK_FALSE(made.see(both, {.wall_ms = 2, .boot_ms = 899'999}));
  const auto due = made.see(both, {.wall_ms = 3, .boot_ms = 900'000});
  REQUIRE(due);
  CHECK(due->text.starts_with("b leaks "));
  CHECK(made.see(with_victim(900'001)).size() == 1);
}

TEST_CASE("alerts: of many leaks at once there is one") {
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

TEST_CASE("forecasts: rows that leak and run out, as memoir leaks prints them") {
  const auto forecasts = parse_forecasts(R"({"schema": 1, "rows": [
    {"subject": "/usr/bin/a --b", "title": "a", "unit": null, "metric": "anon+swap", "leak": true,
     "limit": "memory.max of /a", "runs_out_in_ms": 5000, "confidence": 71.0},
    {"subject": "machine", "title": "machine", "metric": "slab-unreclaimable", "leak": true, "limit": "the machine's memory",
     "runs_out_in_ms": 9000, "confidence": 30},
    {"subject": "steady", "title": "b", "metric": "anon+swap", "leak": false, "runs_out_in_ms": 1},
    {"subject": "far", "title": "c", "metric": "anon+swap", "leak": true, "runs_out_in_ms": null},
    7]})");
  REQUIRE(forecasts);
  REQUIRE(forecasts->size() == 2);
  CHECK((*forecasts)[0] == Forecast{.subject = "/usr/bin/a --b\n\nanon+swap",
                                    .title = "a",
                                    .limit = "memory.max of /a",
                                    .in_ms = 5000,
                                    .confidence = 71});
  CHECK((*forecasts)[1].title == "machine (slab-unreclaimable)");
}

TEST_CASE("forecasts: what is no answer is an error") {
  for (const char* text : {"", "no", "[]", "{}", R"({"rows": 1})", R"({"rows": [)"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_forecasts(text));
  }
  CHECK(parse_forecasts(R"({"rows": []})")->empty());
}
