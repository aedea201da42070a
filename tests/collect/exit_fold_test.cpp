// Exits of processes: individual records, and sums of the others.

#include "collect/exit/exit_fold.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "collect/cgroup/cgroup_names.h"
#include "collect/collector_fixture.h"
#include "support/fake_census.h"
#include "support/fake_events.h"
#include "support/temporary_directory.h"

namespace memoir::test {
namespace {

using Kind = ProcessEventKind;

constexpr ExitFold::Clock kClock{.boot_ms = 1'000'000, .ticks_per_second = 100, .scanned_ms = 1'002'000};

ProcessEvent event(Kind kind, std::int32_t pid, std::int64_t boot_ms = 3'000) {
  ProcessEvent event;
  event.kind = kind;
  event.pid = pid;
  event.parent_pid = 1;
  event.start_ticks = 250;
  event.boot_ns = boot_ms * 1'000'000;
  event.comm = "job";
  return event;
}

ProcessEvent end_of(std::int32_t pid, std::int64_t peak_kib, std::int64_t boot_ms = 3'000) {
  ProcessEvent end = event(Kind::exited, pid, boot_ms);
  end.peak_kib = peak_kib;
  end.uid = 1000;
  end.cgroup_id = 9;
  return end;
}

ExitFold large_ends(std::int64_t kib = 16 * 1024) {
  ExitFold fold;
  fold.set_large(kib);
  return fold;
}

// 20,000 exits of one user, each with its own name; every second one has a large peak.
void storm(ExitFold& fold) {
  for (int i = 0; i < 20'000; ++i) {
    ProcessEvent end = end_of(i, i % 2 == 0 ? 1'000 : 20'000);
    end.comm = "n" + std::to_string(i);
    fold.note(end, nullptr, kClock);
  }
}

}  // namespace

TEST_CASE("exits: large ones are kept, small ones are summed by name, user and cgroup") {
  ExitFold fold = large_ends();
  fold.note(end_of(10, 20'000), nullptr, kClock);
  fold.note(end_of(11, 1'000, 2'600), nullptr, kClock);
  fold.note(end_of(12, 3'000, 3'500), nullptr, kClock);
  ProcessEvent other = end_of(13, 500);
  other.uid = 0;
  fold.note(other, nullptr, kClock);
  const ExitFold::Taken taken = fold.take();
  CHECK(taken.exits == 4);
  REQUIRE(taken.kept.size() == 1);
  const KeptExit& kept = taken.kept.front();
  CHECK(kept.key == ProcessKey{10, 250, 0});
  CHECK_FALSE(kept.sampled);
  CHECK(kept.record.exited_ms == 1'003'000);
  CHECK(kept.record.lived_ms == 500);
  CHECK(kept.record.peak_kib == 20'000);
  CHECK(kept.after_ms == 1'002'500);  // the start of the process
  REQUIRE(taken.sums.size() == 2);
  const ExitSum& sum = taken.sums[1].sum;
  CHECK(taken.sums[1].uid == 1000U);
  CHECK(taken.sums[1].cgroup_id == 9);
  CHECK(sum.comm == "job");
  CHECK(sum.count == 2);
  CHECK(sum.lived_ms == 100 + 1'000);
  CHECK(sum.peak_kib == 3'000);
  CHECK(sum.peak_ms == 1'003'500);
  CHECK(sum.first_ms == 1'002'600);
  CHECK(sum.last_ms == 1'003'500);
  CHECK(fold.take().exits == 0);
}

TEST_CASE("exits: a sampled process is kept, and after an exec it counts as another process") {
  ExitFold fold = large_ends();
  const ProcessKey known{10, 250, 3};
  fold.note(end_of(10, 100), &known, kClock);
  fold.note(event(Kind::execed, 10), nullptr, kClock);
  fold.note(event(Kind::execed, 10), nullptr, kClock);
  fold.note(end_of(10, 100), &known, kClock);
  fold.note(event(Kind::execed, 10), nullptr, kClock);
  fold.note(end_of(10, 90'000), &known, kClock);
  const ExitFold::Taken taken = fold.take();
  REQUIRE(taken.kept.size() == 3);
  CHECK(taken.kept[0].key == known);
  CHECK(taken.kept[0].sampled);
  CHECK(taken.kept[0].after_ms == 1'002'000);  // the time of the scan
  CHECK(taken.kept[1].key == ProcessKey{10, 250, 5});
  CHECK_FALSE(taken.kept[1].sampled);
  CHECK(taken.kept[2].key == ProcessKey{10, 250, 4});
  CHECK_FALSE(taken.kept[2].sampled);
  CHECK(taken.sums.empty());
}

TEST_CASE("exits: a process that shares its parent's memory has no peak of its own until it execs") {
  ExitFold fold = large_ends();
  ProcessEvent birth = event(Kind::forked, 10);
  birth.shares_memory = true;
  fold.note(birth, nullptr, kClock);
  fold.note(end_of(10, 9'000'000), nullptr, kClock);
  fold.note(birth, nullptr, kClock);
  fold.note(event(Kind::execed, 10), nullptr, kClock);
  fold.note(end_of(10, 70'000), nullptr, kClock);
  const ExitFold::Taken taken = fold.take();
  REQUIRE(taken.sums.size() == 1);
  CHECK(taken.sums[0].sum.peak_kib == 0);
  REQUIRE(taken.kept.size() == 1);
  CHECK(taken.kept[0].record.peak_kib == 70'000);
}

TEST_CASE("exits: a process with a reused pid gets nothing from its predecessor, even if the exit was lost") {
  ExitFold fold = large_ends();
  ProcessEvent birth = event(Kind::forked, 10);
  birth.shares_memory = true;
  fold.note(birth, nullptr, kClock);
  fold.note(event(Kind::forked, 10), nullptr, kClock);
  fold.note(end_of(10, 70'000), nullptr, kClock);
  CHECK(fold.take().kept.front().record.peak_kib == 70'000);
  fold.note(event(Kind::execed, 10), nullptr, kClock);
  fold.note(event(Kind::forked, 10), nullptr, kClock);
  fold.note(end_of(10, 70'000), nullptr, kClock);
  CHECK(fold.take().kept.front().key.exec_count == 0);
}

TEST_CASE("exits: two cgroups have two sums, even with the same number in both hierarchies") {
  ExitFold fold = large_ends();
  for (const std::uint64_t number : {7U, 8U}) {
    ProcessEvent end = end_of(10, 100);
    end.cgroup_id = end.memory_cgroup_id = number;
    fold.note(end, nullptr, kClock);
  }
  CHECK(fold.take().sums.size() == 2);
}

TEST_CASE("exits: a flood uses at most a few hundred rows in five minutes, and all are counted") {
  ExitFold fold = large_ends();
  storm(fold);
  fold.note(end_of(1, 9'000'000), nullptr, kClock);  // still kept individually
  ExitFold::Taken taken = fold.take();
  CHECK(taken.exits == 20'001);
  CHECK(taken.kept.size() == 257);
  CHECK(taken.kept.back().record.peak_kib == 9'000'000);
  CHECK(taken.sums.size() == 257);
  std::int64_t count = 0;
  for (const SummedExits& of : taken.sums) count += of.sum.count;
  CHECK(count + 257 == 20'001);
  // No more names are added in the same five minutes.
  ProcessEvent end = end_of(1, 1'000);
  end.comm = "another";
  fold.note(end, nullptr, kClock);
  taken = fold.take();
  REQUIRE(taken.sums.size() == 1);
  CHECK(taken.sums[0].sum.comm.empty());
  end.boot_ns += 300'000'000'000;
  fold.note(end, nullptr, kClock);
  CHECK(fold.take().sums.front().sum.comm == "another");
}

TEST_CASE("exits: exits of one user use up no names or rows of other users") {
  ExitFold fold = large_ends();
  storm(fold);
  ProcessEvent end = end_of(1, 1'000);
  end.uid = 1001;
  end.comm = "other";
  fold.note(end, nullptr, kClock);
  end.peak_kib = 20'000;
  fold.note(end, nullptr, kClock);
  const ExitFold::Taken taken = fold.take();
  CHECK(taken.kept.back().event.uid == 1001);
  CHECK(std::ranges::any_of(taken.sums, [](const SummedExits& of) { return of.sum.comm == "other"; }));
}

TEST_CASE("exits: the paths of cgroups by number, including deleted ones") {
  const TemporaryDirectory folder;
  namespace fs = std::filesystem;
  fs::create_directories(folder.path() + "/system.slice/a.service");
  std::ofstream(folder.path() + "/cgroup.controllers") << "memory\n";
  const CgroupFs cgroups(folder.path());
  const auto number = cgroups.number("/system.slice/a.service");
  REQUIRE(number);
  CgroupNames names{CgroupFs(folder.path())};
  CHECK(names.path(*number, 100'000) == "/system.slice/a.service");
  CHECK(names.path(0, 100'000).empty());
  CHECK(names.number(3, 4) == 3);
  fs::create_directories(folder.path() + "/b.slice");
  const auto later = cgroups.number("/b.slice");
  REQUIRE(later);
  CHECK(names.path(*later, 101'000).empty());  // the search was too recent to repeat
  fs::remove(folder.path() + "/system.slice/a.service");
  CHECK(names.path(*number, 170'000) == "/system.slice/a.service");
  CHECK(names.path(*later, 170'000) == "/b.slice");
}

namespace {

// A fake machine with kernel events.
struct EventMachine {
  FakeProc proc;
  ManualClock clock{{FakeProc::kBootMs + 1'000'000, 1'000'000}};
  std::shared_ptr<FakeCensus::Script> census = std::make_shared<FakeCensus::Script>();
  std::shared_ptr<FakeEvents::Script> events = std::make_shared<FakeEvents::Script>();
  std::unique_ptr<TickSource> collector =
      make_collector(proc.proc(), clock, many_descriptors(),
                     Result<std::unique_ptr<Census>>(std::make_unique<FakeCensus>(proc.proc(), census)),
                     Result<std::unique_ptr<ProcessEvents>>(std::make_unique<FakeEvents>(events)));

  Tick tick() {
    auto tick = collector->collect(false);
    if (!tick) FAIL(tick.error().message);
    clock.advance(1000);
    return *std::move(tick);
  }

  ProcessEvent end(std::int32_t pid, const std::string& comm, std::int64_t peak_kib) const {
    ProcessEvent end;
    end.kind = Kind::exited;
    end.pid = pid;
    end.start_ticks = 1000 + static_cast<std::uint64_t>(pid);
    end.boot_ns = clock.now().boot_ms * 1'000'000;
    end.comm = comm;
    end.peak_kib = peak_kib;
    end.exit_code = 9;
    return end;
  }
};

}  // namespace

TEST_CASE("exits: an unsampled process has its peak, and its command if it is known") {
  EventMachine machine;
  machine.proc.add(fake(10, "server"));
  machine.tick();
  ProcessEvent worker = machine.end(50, "server", 200'000);
  worker.parent_pid = 10;
  ProcessEvent stranger = machine.end(51, "stress", 300'000);
  stranger.parent_pid = 10;
  machine.events->events = {worker, stranger, machine.end(52, "sh", 900)};
  const Tick tick = machine.tick();
  REQUIRE(tick.events);
  CHECK(*tick.events == TickEvents{.exits = 3, .lost = 0});
  REQUIRE(tick.exit_records.size() == 2);
  CHECK(tick.exit_records[0].process.pid == 50);
  CHECK(tick.exit_records[0].exit_code == 9);
  CHECK(born_of(tick, 50).exe == "/usr/bin/server");
  CHECK(born_of(tick, 50).parent_pid == 10);
  CHECK(born_of(tick, 51).exe.empty());
  CHECK(born_of(tick, 51).command == "stress");
  CHECK_FALSE(has_sample(tick, 50));
  REQUIRE(tick.exit_sums.size() == 1);
  CHECK(tick.exit_sums[0].comm == "sh");
  CHECK(tick.exit_sums[0].user == born_of(tick, 51).user);
  REQUIRE(tick.extremes.processes.size() == 2);
  CHECK(tick.extremes.processes[1].hwm.highest->kib == 300'000);
}

TEST_CASE("exits: a process that execs and exits between two ticks exits once, as its last image") {
  EventMachine machine;
  machine.proc.add(fake(10, "sh"));
  machine.tick();
  ProcessEvent exec = machine.end(10, "job", 0);
  exec.kind = Kind::execed;
  machine.events->events = {exec, machine.end(10, "job", 900)};
  machine.proc.remove(10);
  const Tick tick = machine.tick();
  REQUIRE(tick.exit_records.size() == 1);
  CHECK(tick.exit_records[0].process == ProcessKey{10, 1010, 1});
  CHECK(tick.exit_sums.empty());
  CHECK(born_of(tick, 10).key.exec_count == 1);
  CHECK(born_of(tick, 10).command == "job");
}

TEST_CASE("exits: a short-lived child of a process that has exec'd since the tick has the new image") {
  EventMachine machine;
  FakeProcess parent = fake(10, "java");
  machine.proc.add(parent);
  machine.tick();
  const bool renamed = GENERATE(true, false);
  parent.comm = renamed ? "sh" : "java";
  parent.exe = "/opt/new";
  parent.arguments = {"/opt/new", "run"};
  machine.proc.exec(parent);
  ProcessEvent exec = machine.end(10, parent.comm, 0);
  exec.kind = Kind::execed;
  ProcessEvent fork = machine.end(50, parent.comm, 0);
  fork.kind = Kind::forked;
  fork.parent_pid = 10;
  ProcessEvent child = machine.end(50, parent.comm, 200'000);
  child.parent_pid = 10;
  SECTION("forked after the exec") {
    machine.events->events = {exec, fork, child};
  }
  SECTION("the exec was reported with the previous tick") {
    if (!renamed) return;  // the two images cannot be distinguished
    machine.events->events = {fork, child};
  }
  const Tick tick = machine.tick();
  CHECK(born_of(tick, 50).command == parent.comm);
  CHECK(born_of(tick, 50).exe.empty());
}

TEST_CASE("exits: a sampled process has its own exit, which dates its peak") {
  EventMachine machine;
  machine.proc.add(fake(10, "server"));
  machine.proc.add(fake(11, "other"));
  machine.tick();
  machine.proc.remove(10);
  machine.events->events = {machine.end(10, "server", 200'000)};
  const std::int64_t exited_ms = machine.clock.now().wall_ms;
  const Tick tick = machine.tick();
  REQUIRE(tick.exit_records.size() == 1);
  CHECK(tick.exit_records[0].process == ProcessKey{10, 1010, 0});
  CHECK(tick.exit_records[0].exited_ms == exited_ms);
  CHECK(tick.born.empty());
  REQUIRE(tick.exits.size() == 1);
  REQUIRE(tick.extremes.processes.size() == 1);
  CHECK(tick.extremes.processes[0].hwm.highest == SeenSize{200'000, exited_ms, {}, Origin::exit});
  // The next tick does not report the process again.
  CHECK(machine.tick().exit_records.empty());
}

TEST_CASE("exits: an OOM victim is reported with its exit, or a tick later without it") {
  EventMachine machine;
  machine.proc.add(fake(10, "java", 50'000));
  machine.proc.add(fake(11, "other"));
  machine.tick();
  ProcessEvent chosen = machine.end(10, "", 0);
  chosen.kind = Kind::oom_victim;
  chosen.start_ticks = 0;  // an older kernel reports only the pid
  chosen.peak_kib.reset();
  const std::int64_t chosen_ms = machine.clock.now().wall_ms;
  machine.events->events = {chosen};
  CHECK(machine.collector->take_events());
  CHECK_FALSE(machine.collector->take_events());
  const bool ended = GENERATE(false, true);
  if (ended) machine.events->events = {machine.end(10, "java", 60'000)};
  Tick tick = machine.tick();
  if (!ended) {
    CHECK(tick.oom_victims.empty());
    tick = machine.tick();
  }
  REQUIRE(tick.oom_victims.size() == 1);
  const OomVictim& victim = tick.oom_victims.front();
  CHECK(victim.pid == 10);
  CHECK(victim.comm == "java");
  CHECK(victim.at_ms == chosen_ms);
  CHECK(victim.held_kib == 50'200);
  CHECK(victim.peak_kib == (ended ? std::optional<std::int64_t>(60'000) : std::nullopt));
  CHECK(machine.tick().oom_victims.empty());
}

TEST_CASE("exits: a process that is a zombie at the tick is reported once, with its peak") {
  EventMachine machine;
  machine.tick();
  FakeProcess zombie = fake(10, "job");
  zombie.state = 'Z';
  machine.proc.add(zombie);
  ProcessEvent exec = machine.end(10, "job", 0);
  exec.kind = Kind::execed;
  machine.events->events = {exec, machine.end(10, "job", 90'000)};
  const Tick tick = machine.tick();
  CHECK(tick.born.size() == 1);
  REQUIRE(tick.exit_records.size() == 1);
  CHECK(tick.exit_records[0].process == sample_of(tick, 10).key);
  REQUIRE(tick.extremes.processes.size() == 1);
  CHECK(tick.extremes.processes[0].process == tick.exit_records[0].process);
  CHECK(tick.extremes.processes[0].hwm.highest->kib == 90'000);
}

TEST_CASE("exits: without events there are no exits, and lost events are counted") {
  EventMachine machine;
  machine.events->lost = 7;
  CHECK(machine.tick().events == TickEvents{.exits = 0, .lost = 7});
  CHECK(machine.tick().events == TickEvents{});
  machine.events->fails = true;
  CHECK_FALSE(machine.tick().events);
  CHECK_FALSE(Machine().tick().events);
}

}  // namespace memoir::test
