// The collector with a census: its ticks are the same as without one, and it reads no status.

#include "collect/collector_fixture.h"
#include "support/fake_census.h"

using namespace memoir;
using namespace memoir::test;

using F = ProcessField;

namespace {

using AnyCensus = std::unique_ptr<Census>;

// A census that always reports the same process.
class OneProcess final : public Census {
 public:
  explicit OneProcess(CensusProcess process) : process_(std::move(process)) {}

  Status read(std::vector<CensusProcess>& processes) override {
    processes = {process_};
    return Done{};
  }

  std::string_view name() const override { return "scripted"; }

 private:
  CensusProcess process_;
};

void check_same(const Tick& a, const Tick& b) {
  CHECK(a.processes == b.processes);
  CHECK(a.exits == b.exits);
  CHECK(a.counts == b.counts);
  CHECK(a.categories == b.categories);
  REQUIRE(a.born.size() == b.born.size());
  for (std::size_t i = 0; i < a.born.size(); ++i) CHECK(a.born[i] == b.born[i]);
}

// A fake machine with two collectors: one with a census and one without.
struct WatchedTwice {
  explicit WatchedTwice(bool by_proc = false)
      : counted(make_collector(machine.proc.proc(), machine.clock, many_descriptors(),
                               by_proc ? Result<AnyCensus>(Error{ErrorKind::denied, "no BPF here"}) : scripted())) {}

  Result<AnyCensus> scripted() { return AnyCensus(std::make_unique<FakeCensus>(machine.proc.proc(), script)); }

  Machine machine;
  std::shared_ptr<FakeCensus::Script> script = std::make_shared<FakeCensus::Script>();
  std::unique_ptr<TickSource> counted;

  FakeProc& proc() { return machine.proc; }

  Tick tick() {
    auto tick = counted->collect(false);
    if (!tick) FAIL(tick.error().message);
    return *std::move(tick);
  }

  void check_same_tick() {
    const Tick by_census = tick();
    check_same(by_census, machine.tick());
  }
};

TEST_CASE("with a census the ticks are the same as without") {
  const bool by_proc = GENERATE(false, true);
  WatchedTwice both(by_proc);
  const auto check = [&] {
    const Tick with = both.tick();
    check_same(with, both.machine.tick());
  };
  FakeProc& proc = both.proc();
  proc.add(fake(10, "web"));
  proc.add(fake(11, "odd \\ \n name"));
  proc.add(fake(12, "shell"));
  proc.add({.pid = 2, .comm = "kthreadd", .kernel_thread = true});
  check();
  check();
  proc.update(fake(10, "web", 5000));
  proc.add(fake(13, "late"));
  check();
  FakeProcess image = fake(12, "editor");
  image.start_ticks = fake(12, "shell").start_ticks;
  proc.exec(image);
  check();
  proc.become_zombie(fake(13, "late"));
  check();
  proc.remove(13);
  FakeProcess reborn = fake(11, "other");
  reborn.start_ticks = 7000;
  proc.remove(11);
  proc.add(reborn);
  check();
  proc.remove(10);
  check();
}

TEST_CASE("with a census the list of /proc is still read at times") {
  WatchedTwice both;
  both.proc().add({.pid = 2, .comm = "kthreadd", .kernel_thread = true});
  both.proc().add(fake(10, "web"));
  both.script->hidden = {11};
  CHECK(both.tick().counts.kernel_threads == 1);
  both.proc().remove(2);
  both.proc().add(fake(11, "hidden"));
  CHECK(both.tick().counts.kernel_threads == 1);
  both.machine.clock.advance(5 * 60 * 1000);
  const Tick listed = both.tick();
  CHECK(listed.counts.kernel_threads == 0);
  CHECK(listed.counts.seen == 2);
  CHECK(both.tick().counts.seen == 2);  // processes that are known already are kept
}

TEST_CASE("status of processes in the census is not read") {
  Machine machine;
  machine.proc.add(fake(10, "web"));
  machine.proc.write(10, PidFile::status, "not a status");
  CensusProcess web;
  web.pid = 10;
  web.start_ticks = 1010;
  web.comm = "web";
  web.state = 'S';
  web.memory.set(F::vm_size, 10'000);
  web.memory.set(F::vm_rss, 4242);
  const auto collector = make_collector(machine.proc.proc(), machine.clock, many_descriptors(),
                                        AnyCensus(std::make_unique<OneProcess>(web)));
  const auto tick = collector->collect(false);
  REQUIRE(tick.ok());
  CHECK(tick->counts.malformed == 0);
  CHECK(sample_of(*tick, 10).memory.get(F::vm_rss) == 4242);
  CHECK(sample_of(*tick, 10).source == Source::exact);
}

TEST_CASE("a process that the census does not report is recorded as well") {
  WatchedTwice both;
  both.script->hidden = {11};
  both.proc().add(fake(10, "web"));
  both.proc().add(fake(11, "init"));
  both.check_same_tick();
  both.script->hidden = {10};
  both.proc().update(fake(10, "web", 3000));
  both.check_same_tick();
  both.script->hidden = {};
  both.check_same_tick();
}

TEST_CASE("a process that exited after the census does not get the memory of a process that reuses its pid") {
  Machine machine;
  machine.proc.add(fake(10, "next"));
  CensusProcess ghost;
  ghost.pid = 10;
  ghost.start_ticks = 999;
  ghost.comm = "ghost";
  ghost.state = 'S';
  ghost.memory.set(F::vm_size, 10'000);
  ghost.memory.set(F::vm_rss, 4242);
  const auto collector = make_collector(machine.proc.proc(), machine.clock, many_descriptors(),
                                        AnyCensus(std::make_unique<OneProcess>(ghost)));
  for (int i = 0; i < 2; ++i) {
    const auto tick = collector->collect(false);
    REQUIRE(tick.ok());
    CHECK(sample_of(*tick, 10).key == ProcessKey{10, 999, 0});
    CHECK(sample_of(*tick, 10).source == Source::approximate);
    CHECK(sample_of(*tick, 10).memory.get(F::pss) == 4242);
    if (i == 0) CHECK(born_of(*tick, 10).exe.empty());
  }
}

TEST_CASE("a failing census is replaced by /proc with a note, and nothing is lost") {
  WatchedTwice both;
  both.proc().add(fake(10, "web"));
  both.check_same_tick();
  CHECK(both.counted->access().census == "fake");
  CHECK(both.counted->access().note.empty());
  both.script->fails = true;
  both.proc().update(fake(10, "web", 2000));
  both.check_same_tick();
  CHECK(both.counted->access().census == "proc");
  const std::string note = both.counted->access().note;
  CHECK_THAT(note, ContainsSubstring("the iterator is gone"));
  const int reads = both.script->reads;
  both.check_same_tick();
  CHECK(both.counted->access().note == note);
  CHECK(both.script->reads == reads);
}

TEST_CASE("the /proc census reads status of changed processes, and of each process every two minutes") {
  WatchedTwice both(true);
  FakeProcess web = fake(10, "web");
  both.proc().add(web);
  both.tick();
  both.tick();  // this tick is the first to read the statm of a new process
  web.threads = 7;
  both.proc().update(web);
  CHECK(sample_of(both.tick(), 10).threads == 1);
  web.memory = memory_of(5000);
  both.proc().update(web);
  CHECK(sample_of(both.tick(), 10).threads == 7);
  CHECK(sample_of(both.tick(), 10).memory.get(F::vm_rss) == 5000);
  web.state = 'D';
  both.proc().update(web);
  CHECK(sample_of(both.tick(), 10).state == 'S');
  both.machine.clock.advance(120'000);
  CHECK(sample_of(both.tick(), 10).state == 'D');
}

TEST_CASE("the /proc census reads a status again if it could not parse it") {
  WatchedTwice both(true);
  both.proc().add(fake(10, "web"));
  both.tick();
  both.tick();
  both.proc().write(10, PidFile::status, "torn");
  both.machine.clock.advance(120'000);
  CHECK(both.tick().counts.malformed == 1);
  CHECK(both.tick().counts.malformed == 1);
  both.proc().update(fake(10, "web"));
  CHECK(both.tick().counts.malformed == 0);
  CHECK(both.tick().counts.malformed == 0);
}

TEST_CASE("with few descriptors the /proc census takes precedence over rollups") {
  const auto max_kept = static_cast<std::size_t>(GENERATE(0, 1, 3, 6, 7, 20));
  Machine machine;
  CollectorOptions few = many_descriptors();
  few.max_descriptors = max_kept;
  const auto collector = make_collector(machine.proc.proc(), machine.clock, few, Error{ErrorKind::denied, "no BPF"});
  machine.proc.add(fake(10, "web"));
  machine.proc.add({.pid = 2, .comm = "kthreadd", .kernel_thread = true});
  for (int i = 0; i < 4; ++i) {
    if (i == 2) machine.proc.add(fake(11, "late"));
    const auto tick = collector->collect(false);
    REQUIRE(tick.ok());
    const Tick same = machine.tick();
    check_same(*tick, same);
  }
}

TEST_CASE("the reason for a census without BPF is reported at the start") {
  FakeProc proc;
  const ManualClock clock{{FakeProc::kBootMs + 1'000'000, 1'000'000}};
  const auto collector =
      make_collector(proc.proc(), clock, many_descriptors(), Error{ErrorKind::denied, "no BPF here"});
  REQUIRE(collector->collect(true).ok());
  CHECK(collector->access().census == "proc");
  CHECK_THAT(collector->access().note, ContainsSubstring("no BPF here"));
}

}  // namespace
