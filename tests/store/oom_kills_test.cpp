// The events that OOM kills become.

#include <csignal>

#include "store/events.h"
#include "store_fixture.h"
#include "support/simulation.h"

namespace memoir::test {
namespace {

std::vector<std::string> told(const StoreFixture& fixture) {
  std::vector<std::string> texts;
  for (const Event& event : must(load_events(*fixture.reader(), {0, 4'000'000'000'000}))) {
    if (event.kind == "oom-kill") texts.push_back(event.text);
  }
  return texts;
}

class OomRecording {
 public:
  OomRecording() { begin(); }

  void begin() {
    writer_ = fixture_.writer();
    must(writer_->begin_run(run_info(simulation_.boot(), simulation_.now())));
  }
  void end() {
    must(writer_->end_run(simulation_.now(), "stopped"));
    writer_.reset();
  }
  // A tick that sees this counter, and returns what it says of when.
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
  StoreFixture fixture_;
  Simulation simulation_{{.processes = 2}};
  std::unique_ptr<Writer> writer_;
  std::int64_t last_ms_ = 0;
};

// The first tick of a run, which is to tell of victims a little before it.
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

TEST_CASE("whom the OOM killer chose is an event of that moment, beside what the counters tell") {
  VictimTick told;
  Tick& tick = told.tick;
  const std::int64_t at_ms = told.at_ms;
  tick.oom_victims = {{812, "java", "/app.service", at_ms, 1'024, 8'388'608},
                      {813, "sh", "", at_ms, 1'024, std::nullopt},
                      {814, "", "", at_ms, std::nullopt, std::nullopt}};
  must(told.writer->write(tick));
  std::vector<std::string> texts;
  for (const Event& event : must(load_events(*told.fixture.reader(), {0, 4'000'000'000'000}))) {
    if (event.kind != "oom-victim") continue;
    CHECK(event.at.wall_ms == at_ms);
    texts.push_back(event.text);
  }
  CHECK(texts == std::vector<std::string>{
                     "The OOM killer chose java (812) in the cgroup /app.service, which had at most 8192.0 MiB",
                     "The OOM killer chose sh (813), which held 1.0 MiB when it was seen last",
                     "The OOM killer chose a process (814)",
                 });
}

TEST_CASE("what the kernel's log tells of an OOM kill is told with it, and read again as it was") {
  VictimTick told;
  Tick& tick = told.tick;
  const OomDetail limit{.scope = OomScope::cgroup,
                        .limit_cgroup = "/app.service",
                        .invoked_by = "my hog,x=1 \"y\"",
                        .usage_kib = 51'200,
                        .limit_kib = 51'200,
                        .anon_kib = 50'944,
                        .file_kib = 960,
                        .others = {{900, "näxt\n", 4'096, 7}, {901, "", 1, 0}}};
  const std::int64_t at_ms = told.at_ms;
  tick.oom_victims = {{812, "java", "/app.service", at_ms, {}, 51'904, limit},
                      {813, "sh", "", at_ms + 1, 1'024, {}, OomDetail{}},
                      {814, "", "", at_ms + 2, {}, {}, {}}};
  must(told.writer->write(tick));
  const auto reader = told.fixture.reader();
  CHECK(must(load_oom_victims(*reader, {at_ms, at_ms + 2})) == tick.oom_victims);
  CHECK(must(load_oom_victims(*reader, {at_ms + 1, at_ms + 1})).size() == 1);
  const std::vector<Event> events = must(load_events(*reader, {at_ms, at_ms + 1}));
  REQUIRE(events.size() == 2);
  CHECK(events[0].text ==
        "The OOM killer chose java (812) in the cgroup /app.service, which had at most 50.7 MiB; the cgroup "
        "/app.service was at its limit of 50.0 MiB, and my hog,x=1 \"y\" asked for more");
  CHECK(events[1].text ==
        "The OOM killer chose sh (813), which held 1.0 MiB when it was seen last; the machine had no memory left");
}

TEST_CASE("whom a killer in user space chose is told with who did, and read again as it was") {
  VictimTick told;
  Tick& tick = told.tick;
  const std::int64_t at_ms = told.at_ms;
  OomVictim java{812, "java", "/app.service", at_ms, 51'904, 53'248};
  java.killer = {"systemd-oomd", 512, SIGKILL};
  java.held = {.anon_kib = 50'944, .file_kib = 960, .shmem_kib = 0, .swap_kib = 2'048};
  OomVictim shell{813, "sh", "", at_ms + 1, {}, 1'024};
  shell.killer = {"earlyoom", 513, SIGTERM};
  OomVictim stays{814, "", "", at_ms + 2, 1'024};
  stays.killer = shell.killer;
  tick.oom_victims = {java, shell, stays};
  must(told.writer->write(tick));
  const auto reader = told.fixture.reader();
  CHECK(must(load_oom_victims(*reader, {at_ms, at_ms + 2})) == tick.oom_victims);
  std::vector<std::string> texts;
  for (const Event& event : must(load_events(*reader, {at_ms, at_ms + 2}))) texts.push_back(event.text);
  CHECK(texts ==
        std::vector<std::string>{
            "systemd-oomd (pid 512) killed java (812) in the cgroup /app.service with SIGKILL; it held 50.7 "
            "MiB and 2.0 MiB of swap, 52.0 MiB at most",
            "earlyoom (pid 513) killed sh (813) with SIGTERM; it held 1.0 MiB at most",
            "earlyoom (pid 513) sent SIGTERM to a process (814); it held 1.0 MiB; it had not ended soon after"});
}

TEST_CASE("OOM kills are told by cgroup, and for the rest by the machine, between which ticks") {
  OomRecording recorded;
  recorded.tick(7);
  recorded.tick(7);
  CHECK(told(recorded.fixture()).empty());
  const std::string when = recorded.tick(12, {{"/a", 1}, {"/b", 2}});
  CHECK(told(recorded.fixture()) == std::vector<std::string>{
                                        "The OOM killer ended 1 process " + when + ", in or below the cgroup /a",
                                        "The OOM killer ended 2 processes " + when + ", in or below the cgroup /b",
                                        "The OOM killer ended 2 processes " + when + "; in which cgroup is not known",
                                    });
  recorded.tick(12);
  CHECK(told(recorded.fixture()).size() == 3);
}

TEST_CASE("an OOM kill that a cgroup knew of before the machine's counter is told once") {
  OomRecording recorded;
  recorded.tick(0);
  recorded.tick(1, {{"/a", 2}});
  CHECK(told(recorded.fixture()).size() == 1);
  recorded.tick(2);
  CHECK(told(recorded.fixture()).size() == 1);
  recorded.tick(3);
  CHECK(told(recorded.fixture()).size() == 2);
}

TEST_CASE("OOM kills while nothing was recorded are told by the first tick of the same boot") {
  OomRecording recorded;
  recorded.tick(1);
  recorded.tick(1);
  recorded.end();
  recorded.simulation().pause(600'000);
  recorded.begin();
  const std::string when = recorded.tick(4);
  CHECK(told(recorded.fixture()) ==
        std::vector<std::string>{"The OOM killer ended 3 processes " + when + "; in which cgroup is not known"});
  recorded.end();
  recorded.simulation().reboot();
  recorded.begin();
  recorded.tick(9);
  CHECK(told(recorded.fixture()).size() == 1);
}

TEST_CASE("a kernel without the counter tells nothing") {
  OomRecording recorded;
  recorded.tick({});
  recorded.tick({});
  recorded.tick(3);
  CHECK(told(recorded.fixture()).empty());
}

}  // namespace
}  // namespace memoir::test
