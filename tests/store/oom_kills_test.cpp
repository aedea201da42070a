// Events of OOM kills.

#include <csignal>

#include "simulated_run.h"
#include "store/events.h"

namespace memoir::test {
namespace {

std::vector<std::string> kill_events(const StoreFixture& fixture) {
  std::vector<std::string> texts;
  for (const Event& event : must(load_events(*fixture.reader(), {0, 4'000'000'000'000}))) {
    if (event.kind == "oom-kill") texts.push_back(event.text);
  }
  return texts;
}

class OomRecording : public SimulatedRun {
 public:
  OomRecording() : SimulatedRun({.processes = 2}) {}

  // Writes a tick with this counter; returns its time as text.
  std::string tick(std::optional<std::int64_t> machine, std::vector<OomKills> cgroups = {}) {
    Tick tick = simulation_.next();
    tick.machine.memory.set(MachineField::oom_kill, machine);
    tick.oom_kills = std::move(cgroups);
    must(writer_->write(tick));
    const std::string when = "between " + utc(last_ms_) + " and " + utc(tick.begin.wall_ms);
    last_ms_ = tick.begin.wall_ms;
    return when;
  }
  Simulation& simulation() { return simulation_; }
  const StoreFixture& fixture() const { return fixture_; }

 private:
  std::int64_t last_ms_ = 0;
};

// The first tick of a run, with victims that were killed shortly before it.
struct VictimTick {
  StoreFixture fixture;
  Simulation simulation{{.processes = 1}};
  std::unique_ptr<Writer> writer = fixture.writer();
  Tick tick = begin();
  std::int64_t at_ms = tick.begin.wall_ms - 300;

 private:
  Tick begin() {
    must(writer->begin_run(run_info(simulation.boot(), simulation.now())));
    return simulation.next();
  }
};

TEST_CASE("an OOM victim is an event at its time, besides the counters' events") {
  VictimTick first;
  Tick& tick = first.tick;
  const std::int64_t at_ms = first.at_ms;
  tick.oom_victims = {{812, "java", "/app.service", at_ms, 1'024, 8'388'608},
                      {813, "sh", "", at_ms, 1'024, std::nullopt},
                      {814, "", "", at_ms, std::nullopt, std::nullopt}};
  must(first.writer->write(tick));
  std::vector<std::string> texts;
  for (const Event& event : must(load_events(*first.fixture.reader(), {0, 4'000'000'000'000}))) {
    if (event.kind != "oom-victim") continue;
    CHECK(event.at.wall_ms == at_ms);
    texts.push_back(event.text);
  }
  CHECK(texts == std::vector<std::string>{
                     "The OOM killer killed java (812) in the cgroup /app.service; its RSS peaked at 8192.0 MiB",
                     "The OOM killer killed sh (813); its last RSS was 1.0 MiB",
                     "The OOM killer killed a process (814)",
                 });
}

TEST_CASE("details of an OOM kill from the kernel's log are stored with it and read back unchanged") {
  VictimTick first;
  Tick& tick = first.tick;
  const OomDetail limit{.scope = OomScope::cgroup,
                        .limit_cgroup = "/app.service",
                        .invoked_by = "my hog,x=1 \"y\"",
                        .usage_kib = 51'200,
                        .limit_kib = 51'200,
                        .anon_kib = 50'944,
                        .file_kib = 960,
                        .others = {{900, "näxt\n", 4'096, 7}, {901, "", 1, 0}}};
  const std::int64_t at_ms = first.at_ms;
  tick.oom_victims = {{812, "java", "/app.service", at_ms, {}, 51'904, limit},
                      {813, "sh", "", at_ms + 1, 1'024, {}, OomDetail{}},
                      {814, "", "", at_ms + 2, {}, {}, {}}};
  must(first.writer->write(tick));
  const auto reader = first.fixture.reader();
  CHECK(must(load_oom_victims(*reader, {at_ms, at_ms + 2})) == tick.oom_victims);
  CHECK(must(load_oom_victims(*reader, {at_ms + 1, at_ms + 1})).size() == 1);
  const std::vector<Event> events = must(load_events(*reader, {at_ms, at_ms + 1}));
  REQUIRE(events.size() == 2);
  CHECK(events[0].text ==
        "The OOM killer killed java (812) in the cgroup /app.service; its RSS peaked at 50.7 MiB; the cgroup "
        "/app.service was at its limit of 50.0 MiB; my hog,x=1 \"y\" invoked the OOM killer");
  CHECK(events[1].text == "The OOM killer killed sh (813); its last RSS was 1.0 MiB; the machine was out of memory");
}

TEST_CASE("a victim of a user-space killer is stored with its killer and read back unchanged") {
  VictimTick first;
  Tick& tick = first.tick;
  const std::int64_t at_ms = first.at_ms;
  OomVictim java{812, "java", "/app.service", at_ms, 51'904, 53'248};
  java.killer = {"systemd-oomd", 512, SIGKILL};
  java.held = {.anon_kib = 50'944, .file_kib = 960, .shmem_kib = 0, .swap_kib = 2'048};
  OomVictim shell{813, "sh", "", at_ms + 1, {}, 1'024};
  shell.killer = {"earlyoom", 513, SIGTERM};
  OomVictim stays{814, "", "", at_ms + 2, 1'024};
  stays.killer = shell.killer;
  tick.oom_victims = {java, shell, stays};
  must(first.writer->write(tick));
  const auto reader = first.fixture.reader();
  CHECK(must(load_oom_victims(*reader, {at_ms, at_ms + 2})) == tick.oom_victims);
  std::vector<std::string> texts;
  for (const Event& event : must(load_events(*reader, {at_ms, at_ms + 2}))) texts.push_back(event.text);
  CHECK(texts == std::vector<std::string>{
                     "systemd-oomd (pid 512) killed java (812) in the cgroup /app.service with SIGKILL; it used 50.7 "
                     "MiB and 2.0 MiB of swap, 52.0 MiB at most",
                     "earlyoom (pid 513) killed sh (813) with SIGTERM; it used 1.0 MiB at most",
                     "earlyoom (pid 513) sent SIGTERM to a process (814); it used 1.0 MiB; it kept running"});
}

TEST_CASE("OOM kills are reported per cgroup, the remainder for the machine, with the ticks before and after") {
  OomRecording recorded;
  recorded.tick(7);
  recorded.tick(7);
  CHECK(kill_events(recorded.fixture()).empty());
  const std::string when = recorded.tick(12, {{"/a", 1}, {"/b", 2}});
  CHECK(kill_events(recorded.fixture()) ==
        std::vector<std::string>{
            "The OOM killer killed 1 process " + when + ", in or below the cgroup /a",
            "The OOM killer killed 2 processes " + when + ", in or below the cgroup /b",
            "The OOM killer killed 2 processes " + when + ", cgroup unknown",
        });
  recorded.tick(12);
  CHECK(kill_events(recorded.fixture()).size() == 3);
}

TEST_CASE("an OOM kill that a cgroup counts before the machine does is reported once") {
  OomRecording recorded;
  recorded.tick(0);
  recorded.tick(1, {{"/a", 2}});
  CHECK(kill_events(recorded.fixture()).size() == 1);
  recorded.tick(2);
  CHECK(kill_events(recorded.fixture()).size() == 1);
  recorded.tick(3);
  CHECK(kill_events(recorded.fixture()).size() == 2);
}

TEST_CASE("OOM kills during a gap are reported at the first tick; after a reboot only those since the boot") {
  OomRecording recorded;
  recorded.tick(1);
  recorded.tick(1);
  recorded.end();
  recorded.simulation().pause(600'000);
  recorded.begin();
  const std::string when = recorded.tick(4);
  CHECK(kill_events(recorded.fixture()) ==
        std::vector<std::string>{"The OOM killer killed 3 processes " + when + ", cgroup unknown"});
  recorded.end();
  recorded.simulation().reboot();
  recorded.begin();
  recorded.tick(9);
  REQUIRE(kill_events(recorded.fixture()).size() == 2);
  CHECK(kill_events(recorded.fixture()).back().starts_with("The OOM killer killed 9 processes between "));
}

TEST_CASE("no kills are reported if the kernel lacks the counter") {
  OomRecording recorded;
  recorded.tick({});
  recorded.tick({});
  recorded.tick(3);
  CHECK(kill_events(recorded.fixture()).empty());
}

}  // namespace
}  // namespace memoir::test
