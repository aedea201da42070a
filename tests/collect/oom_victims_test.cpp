// OOM victims from events and from the kernel's log.

#include <csignal>
#include <fmt/format.h>
#include <fstream>

#include "collect/collector_fixture.h"
#include "support/fake_census.h"
#include "support/fake_events.h"
#include "support/temporary_directory.h"

namespace memoir::test {
namespace {

// A fake machine with a log and optional events.
struct Victims {
  explicit Victims(bool events_told) {
    CollectorOptions options = many_descriptors();
    std::ofstream(log).flush();
    options.kernel_log = log;
    Result<std::unique_ptr<ProcessEvents>> events = std::unique_ptr<ProcessEvents>();
    if (events_told) events = std::unique_ptr<ProcessEvents>(std::make_unique<FakeEvents>(script));
    collector = make_collector(proc.proc(), clock, options,
                               Result<std::unique_ptr<Census>>(std::make_unique<FakeCensus>(proc.proc(), census)),
                               std::move(events));
    proc.add(fake(10, "java", 50'000));
    tick();
  }

  std::vector<OomVictim> tick() {
    auto tick = collector->collect(false);
    if (!tick) FAIL(tick.error().message);
    clock.advance(1000);
    return std::move(tick->oom_victims);
  }

  void write(const std::string& message) {
    std::ofstream(log, std::ios::app) << fmt::format("4,{},{},-;{}\n", ++sequence, (clock.now().boot_ms - 300) * 1000,
                                                     message);
  }

  void write_kill(std::int32_t pid, const std::string& comm = "java") {
    write("other invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0");
    write("memory: usage 51200kB, limit 51200kB, failcnt 19");
    write("[  pid  ]   uid  tgid total_vm      rss pgtables_bytes swapents oom_score_adj name");
    write("[     11]     0    11     1000      100   118784        0             0 other");
    write(
        fmt::format("oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/app,"
                    "task_memcg=/app/x,task={},pid={},uid=0",
                    comm, pid));
    write(
        fmt::format("Memory cgroup out of memory: Killed process {} ({}) total-vm:411944kB, anon-rss:50944kB, "
                    "file-rss:960kB, shmem-rss:0kB, UID:0 pgtables:140kB oom_score_adj:0",
                    pid, comm));
  }

  ProcessEvent event(ProcessEventKind kind, std::int32_t pid = 10) const {
    ProcessEvent event;
    event.kind = kind;
    event.pid = pid;
    event.start_ticks = 1000 + static_cast<std::uint64_t>(pid);
    event.boot_ns = (clock.now().boot_ms - 300) * 1'000'000;
    if (kind == ProcessEventKind::exited) event.peak_kib = 60'000;
    return event;
  }

  ProcessEvent signal(int number, const std::string& killer = "earlyoom") const {
    ProcessEvent signalled = event(ProcessEventKind::signalled);
    signalled.held = {.anon_kib = 51'000, .file_kib = 900, .shmem_kib = 0, .swap_kib = 64};
    signalled.killer = {killer, 512, number};
    return signalled;
  }

  TemporaryDirectory folder;
  std::string log = folder.path() + "/kmsg";
  int sequence = 0;
  FakeProc proc;
  ManualClock clock{{FakeProc::kBootMs + 1'000'000, 1'000'000}};
  std::shared_ptr<FakeCensus::Script> census = std::make_shared<FakeCensus::Script>();
  std::shared_ptr<FakeEvents::Script> script = std::make_shared<FakeEvents::Script>();
  std::unique_ptr<TickSource> collector;
};

void check_detail(const OomVictim& victim) {
  REQUIRE(victim.detail);
  CHECK(victim.detail->scope == OomScope::cgroup);
  CHECK(victim.detail->limit_cgroup == "/app");
  CHECK(victim.detail->invoked_by == "other");
  CHECK(victim.detail->limit_kib == 51'200);
  CHECK(victim.detail->anon_kib == 50'944);
  CHECK(victim.detail->others == std::vector<OomTask>{{11, "other", 400, 0}});
}

}  // namespace

TEST_CASE("OOM victims: without events the log reports them") {
  Victims machine(false);
  CHECK(machine.collector->access().note.find("log") == std::string::npos);
  machine.proc.remove(10);
  machine.write_kill(10);
  machine.write_kill(99, "unseen");
  const std::int64_t written_ms = machine.clock.now().wall_ms - 300;
  const auto victims = machine.tick();
  REQUIRE(victims.size() == 2);
  CHECK(victims[0].pid == 10);
  CHECK(victims[0].comm == "java");
  CHECK(victims[0].at_ms == written_ms);
  CHECK(victims[0].held_kib == 50'200);
  CHECK_FALSE(victims[0].peak_kib);
  check_detail(victims[0]);
  CHECK(victims[1].comm == "unseen");
  CHECK(victims[1].cgroup == "/app/x");
  CHECK_FALSE(victims[1].held_kib);
  CHECK(machine.tick().empty());
}

TEST_CASE("OOM victims: an event and a log line report one kill") {
  Victims machine(true);
  const bool between = GENERATE(false, true);
  machine.script->events = {machine.event(ProcessEventKind::oom_victim), machine.event(ProcessEventKind::exited)};
  if (between) CHECK(machine.collector->take_events());
  machine.write_kill(10);
  machine.proc.remove(10);
  const auto victims = machine.tick();
  REQUIRE(victims.size() == 1);
  CHECK(victims[0].held_kib == 50'200);
  CHECK(victims[0].peak_kib == 60'000);
  check_detail(victims[0]);
  CHECK(machine.tick().empty());
}

TEST_CASE("OOM victims: a kill waits at most one tick for its log line") {
  Victims machine(true);
  machine.script->events = {machine.event(ProcessEventKind::oom_victim), machine.event(ProcessEventKind::exited)};
  CHECK(machine.collector->take_events());
  CHECK(machine.tick().empty());
  const bool late = GENERATE(false, true);
  if (late) {
    const auto without = machine.tick();
    REQUIRE(without.size() == 1);
    CHECK_FALSE(without[0].detail);
  }
  machine.write_kill(10);
  const auto victims = machine.tick();
  REQUIRE(victims.size() == (late ? 0 : 1));  // the victim is reported once, by one of the two ticks
  if (!late) check_detail(victims[0]);
  CHECK(machine.tick().empty());
}

TEST_CASE("OOM victims: two victims that started at the same time and are killed together are two") {
  Victims machine(true);
  machine.script->events = {machine.event(ProcessEventKind::oom_victim),
                            machine.event(ProcessEventKind::oom_victim, 11)};
  machine.script->events[1].start_ticks = machine.script->events[0].start_ticks;
  CHECK(machine.collector->take_events());
  machine.tick();
  CHECK(machine.tick().size() == 2);
}

TEST_CASE("OOM victims: two victims with the same pid are two, each with its own lines") {
  Victims machine(true);
  machine.script->events = {machine.event(ProcessEventKind::oom_victim)};
  machine.write_kill(10);
  machine.collector->take_events();
  machine.write_kill(10, "again");
  ProcessEvent second = machine.event(ProcessEventKind::oom_victim);
  second.start_ticks = 77;
  second.comm = "again";
  machine.script->events = {second};
  auto victims = machine.tick();
  CHECK(victims.empty());  // both exits are awaited
  victims = machine.tick();
  REQUIRE(victims.size() == 2);
  CHECK(victims[0].comm == "java");
  CHECK(victims[1].comm == "again");
  CHECK(victims[0].detail);
  CHECK(victims[1].detail);
}

TEST_CASE("OOM victims: the kernel reports the chosen process of a group twice, but it counts once") {
  Victims machine(true);
  machine.script->events = {machine.event(ProcessEventKind::oom_victim), machine.event(ProcessEventKind::oom_victim)};
  const bool between = GENERATE(false, true);
  machine.write_kill(10);
  if (between) CHECK(machine.collector->take_events());
  machine.write_kill(10);
  CHECK(machine.tick().empty());  // its exit is awaited
  machine.script->events = {machine.event(ProcessEventKind::exited)};
  const auto victims = machine.tick();
  REQUIRE(victims.size() == 1);
  check_detail(victims[0]);
  CHECK(machine.tick().empty());
}

TEST_CASE("OOM victims: a kill by a user-space killer has the memory at that time, the peak and the killer") {
  Victims machine(true);
  machine.script->events = {machine.signal(SIGKILL, "systemd-oomd"), machine.event(ProcessEventKind::exited)};
  const std::int64_t at_ms = machine.clock.now().wall_ms - 300;
  CHECK(machine.collector->take_events());
  machine.proc.remove(10);
  const auto victims = machine.tick();  // no log line is awaited
  REQUIRE(victims.size() == 1);
  CHECK(victims[0].pid == 10);
  CHECK(victims[0].comm == "java");
  CHECK(victims[0].at_ms == at_ms);
  CHECK(victims[0].held_kib == 51'900);
  CHECK(victims[0].held->swap_kib == 64);
  CHECK(victims[0].peak_kib == 60'000);
  CHECK(victims[0].killer == OomKiller{"systemd-oomd", 512, SIGKILL});
  CHECK_FALSE(victims[0].detail);
  CHECK(machine.tick().empty());
}

TEST_CASE("OOM victims: a SIGTERM followed by SIGKILL is reported once, with the last signal") {
  Victims machine(true);
  machine.script->events = {machine.signal(SIGTERM)};
  CHECK(machine.collector->take_events());
  CHECK(machine.tick().empty());
  CHECK(machine.tick().empty());
  machine.script->events = {machine.signal(SIGKILL), machine.event(ProcessEventKind::exited)};
  CHECK_FALSE(machine.collector->take_events());
  const auto victims = machine.tick();
  REQUIRE(victims.size() == 1);
  CHECK(victims[0].killer == OomKiller{"earlyoom", 512, SIGKILL});
  CHECK(machine.tick().empty());
}

TEST_CASE("OOM victims: a process that survives SIGTERM is reported as such after a while") {
  Victims machine(true);
  machine.script->events = {machine.signal(SIGTERM)};
  int waited = 0;
  std::vector<OomVictim> victims;
  while (victims.empty() && waited < 30) {
    victims = machine.tick();
    ++waited;
  }
  CHECK(waited > 10);
  REQUIRE(victims.size() == 1);
  CHECK_FALSE(victims[0].killed());
  CHECK_FALSE(victims[0].peak_kib);
}

TEST_CASE("OOM victims: a process that a user-space killer and the kernel kill is one victim, of the kernel") {
  Victims machine(true);
  const bool signal_first = GENERATE(true, false);
  machine.script->events = {machine.event(ProcessEventKind::oom_victim), machine.event(ProcessEventKind::exited)};
  auto& events = machine.script->events;
  events.insert(signal_first ? events.begin() : events.begin() + 1, machine.signal(SIGTERM));
  machine.collector->take_events();
  machine.write_kill(10);
  const auto victims = machine.tick();
  REQUIRE(victims.size() == 1);
  CHECK_FALSE(victims[0].killer);
  CHECK_FALSE(victims[0].held);
  check_detail(victims[0]);
  CHECK(machine.tick().empty());
}

TEST_CASE("OOM victims: missing signals are a degraded mode") {
  Victims machine(true);
  const auto note = [&](Result<std::unique_ptr<ProcessEvents>> events) {
    return make_collector(
               machine.proc.proc(), machine.clock, many_descriptors(),
               Result<std::unique_ptr<Census>>(std::make_unique<FakeCensus>(machine.proc.proc(), machine.census)),
               std::move(events))
        ->access()
        .note;
  };
  const std::string unseen = "Kills by user-space killers (systemd-oomd, earlyoom, nohang, oomd) are not reported.";
  CHECK(note(std::unique_ptr<ProcessEvents>(std::make_unique<FakeEvents>(machine.script))).find(unseen) ==
        std::string::npos);
  machine.script->no_signals = "no such tracepoint";
  CHECK(note(std::unique_ptr<ProcessEvents>(std::make_unique<FakeEvents>(machine.script)))
            .find("BPF does not report signals (no such tracepoint). " + unseen) != std::string::npos);
  CHECK(note(Error{ErrorKind::denied, "no right"}).find(unseen) != std::string::npos);
}

TEST_CASE("OOM victims: at most thirty are reported in five minutes, from events and log together") {
  Victims machine(GENERATE(false, true));
  for (std::int32_t pid = 100; pid < 150; ++pid) machine.write_kill(pid);
  for (std::int32_t pid = 110; pid < 150; ++pid) {
    machine.script->events.push_back(machine.event(ProcessEventKind::oom_victim, pid));
  }
  std::size_t count = machine.tick().size();
  count += machine.tick().size();
  count += machine.tick().size();
  CHECK(count == 30);
}

TEST_CASE("OOM victims: a missing log is reported once, and no kill waits for it") {
  Victims machine(true);
  CollectorOptions options = many_descriptors();
  options.kernel_log = machine.folder.path() + "/none";
  machine.collector =
      make_collector(machine.proc.proc(), machine.clock, options,
                     Result<std::unique_ptr<Census>>(std::make_unique<FakeCensus>(machine.proc.proc(), machine.census)),
                     Result<std::unique_ptr<ProcessEvents>>(std::make_unique<FakeEvents>(machine.script)));
  CHECK(machine.collector->access().note.find("The kernel's log is not read (cannot open ") == 0);
  machine.tick();
  machine.script->events = {machine.event(ProcessEventKind::oom_victim), machine.event(ProcessEventKind::exited)};
  CHECK(machine.tick().size() == 1);
}

}  // namespace memoir::test
