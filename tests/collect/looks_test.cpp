// What looks between two ticks see beyond both.

#include "collect/looks.h"

#include "collect/collector_fixture.h"
#include "support/fake_census.h"

namespace memoir::test {
namespace {

constexpr std::int64_t kMib = 1024;

struct Looked {
  explicit Looked(bool by_proc = false)
      : collector(make_collector(proc.proc(), clock, many_descriptors(), by_proc ? none() : scripted())) {}

  using Found = Result<std::unique_ptr<Census>>;
  static Found none() { return Error{ErrorKind::denied, "no BPF here"}; }
  Found scripted() const { return std::unique_ptr<Census>(std::make_unique<FakeCensus>(proc.proc(), script)); }

  // A look, or a tick, when that is what `pid` has; a second passes.
  TickSource::Look look(std::int32_t pid, std::int64_t kib) {
    proc.update(fake(pid, "app", kib));
    const TickSource::Look look = collector->look();
    clock.advance(1000);
    return look;
  }
  Tick tick(std::int32_t pid, std::int64_t kib) {
    proc.update(fake(pid, "app", kib));
    return tick();
  }
  Tick tick() {
    auto tick = collector->collect(false);
    if (!tick) FAIL(tick.error().message);
    clock.advance(1000);
    return *std::move(tick);
  }

  FakeProc proc;
  ManualClock clock{{FakeProc::kBootMs + 1'000'000, 1'000'000}};
  std::shared_ptr<FakeCensus::Script> script = std::make_shared<FakeCensus::Script>();
  std::unique_ptr<TickSource> collector;
};

// All of `kib` private, and 200 KiB of a file.
std::int64_t rss(std::int64_t kib) {
  return kib + 200;
}

std::string meminfo(std::int64_t available_kib) {
  return "MemTotal: 8388608 kB\nMemFree: 1000 kB\nMemAvailable: " + std::to_string(available_kib) + " kB\n";
}

}  // namespace

TEST_CASE("looks: the lowest and the highest between two ticks, and when") {
  Looked looked(GENERATE(false, true));
  looked.proc.add(fake(10, "app", 50 * kMib));
  looked.tick();
  const std::int64_t first_ms = looked.clock.now().wall_ms;
  looked.look(10, 60 * kMib);
  const std::int64_t highest_ms = looked.clock.now().wall_ms;
  looked.look(10, 90 * kMib);
  looked.look(10, 90 * kMib);
  const std::int64_t lowest_ms = looked.clock.now().wall_ms;
  looked.look(10, 20 * kMib);
  const Tick tick = looked.tick(10, 55 * kMib);
  REQUIRE(tick.extremes.processes.size() == 1);
  const ProcessExtremes& of = tick.extremes.processes.front();
  CHECK(of.process == sample_of(tick, 10).key);
  CHECK(of.rss.highest == SeenSize{rss(90 * kMib), highest_ms, first_ms});
  CHECK(of.rss.lowest == SeenSize{rss(20 * kMib), lowest_ms});
  CHECK(of.anon.highest == SeenSize{90 * kMib, highest_ms, first_ms});
  CHECK(of.anon.lowest == SeenSize{20 * kMib, lowest_ms});
  CHECK_FALSE(of.hwm.any());
  CHECK(tick.looks.count == 4);
  REQUIRE(tick.extremes.categories.size() == 1);
  CHECK(tick.extremes.categories.front().rss.highest == SeenSize{rss(90 * kMib), highest_ms, first_ms});
  CHECK_FALSE(tick.extremes.categories.front().rss.lowest);
  SECTION("they begin anew with each tick") {
    looked.look(10, 55 * kMib);
    const Tick next = looked.tick();
    CHECK(next.extremes == TickExtremes{});
    CHECK(next.looks.count == 1);
  }
}

TEST_CASE("looks: what the ticks at either end have, or nearly, is no extreme") {
  Looked looked;
  looked.proc.add(fake(10, "app", 50 * kMib));
  looked.proc.add(fake(11, "app", 100));
  looked.tick();
  looked.look(10, 80 * kMib);
  looked.look(11, 350);
  const Tick tick = looked.tick(10, 80 * kMib - 1000);
  CHECK(tick.extremes.processes.empty());
}

TEST_CASE("looks: of one that ended the highest that they saw, and its high-water mark") {
  Looked looked;
  looked.proc.add(fake(10, "app", 50 * kMib));
  looked.proc.add(fake(11, "app", kMib));
  looked.tick();
  const std::int64_t at_ms = looked.clock.now().wall_ms;
  looked.look(10, 900 * kMib);
  looked.proc.remove(10);
  // One that the tick before did not have tells nothing: its own marks do.
  looked.proc.add(fake(12, "app", kMib));
  looked.look(12, 700 * kMib);
  const Tick tick = looked.tick(12, kMib);
  REQUIRE(tick.extremes.processes.size() == 1);
  const ProcessExtremes& of = tick.extremes.processes.front();
  CHECK(of.process.pid == 10);
  CHECK(of.rss.highest == SeenSize{rss(900 * kMib), at_ms});
  CHECK(of.hwm.highest == SeenSize{rss(900 * kMib), at_ms});
}

TEST_CASE("looks: a pid that became another's, and an exec, tell nothing of the one before") {
  Looked looked;
  looked.proc.add(fake(10, "app", 50 * kMib));
  looked.proc.add(fake(11, "app", 50 * kMib));
  looked.tick();
  FakeProcess other = fake(10, "other", 900 * kMib);
  other.start_ticks += 7;
  looked.proc.remove(10);
  looked.proc.add(other);
  FakeProcess image = fake(11, "image", 2 * kMib);
  looked.proc.exec(image);
  looked.collector->look();
  image.memory = memory_of(30 * kMib, 200);
  looked.proc.update(image);
  const Tick tick = looked.tick();
  CHECK(tick.counts.execed == 1);
  CHECK(tick.extremes.processes.empty());
}

TEST_CASE("looks: the machine's available memory, and what is in use") {
  Looked looked;
  looked.proc.write(SystemFile::meminfo, meminfo(6'000'000));
  looked.tick();
  looked.proc.write(SystemFile::meminfo, meminfo(1'000'000));
  const std::int64_t at_ms = looked.clock.now().wall_ms;
  looked.collector->look();
  looked.clock.advance(1000);
  looked.proc.write(SystemFile::meminfo, meminfo(5'000'000));
  const Tick tick = looked.tick();
  CHECK(tick.extremes.available.lowest == SeenSize{1'000'000, at_ms});
  CHECK_FALSE(tick.extremes.available.highest);
  CHECK(tick.extremes.used.highest == SeenSize{7'388'608, at_ms});
  CHECK_FALSE(tick.extremes.used.lowest);
}

TEST_CASE("looks: one that grows fast wants a tick at once") {
  Looked looked;
  looked.proc.add(fake(10, "app", 50 * kMib));
  looked.tick();
  CHECK_FALSE(looked.look(10, 60 * kMib).growth);
  CHECK(looked.look(10, 200 * kMib).growth == FastGrowth{"app", 10, rss(60 * kMib), rss(200 * kMib)});
  CHECK_FALSE(looked.look(10, 200 * kMib).growth);
}

TEST_CASE("looks: how fast one grows is judged by the second, however often it is looked at") {
  Looked looked;
  looked.proc.add(fake(10, "app", 20 * kMib));
  looked.tick();
  looked.look(10, 20 * kMib);
  int fast = 0;
  for (int tenth = 0; tenth < 20; ++tenth) {
    looked.proc.update(fake(10, "app", (20 + 10 * tenth) * kMib));
    fast += looked.collector->look().growth ? 1 : 0;
    looked.clock.advance(100);
  }
  CHECK(fast == 2);
}

TEST_CASE("looks: after the clock was set back, growth is judged by what a process has then") {
  Looked looked;
  const auto grows_to = [&](std::int64_t kib) {
    looked.proc.update(fake(10, "app", kib));
    const bool fast = looked.collector->look().growth.has_value();
    looked.clock.advance(100);
    return fast;
  };
  looked.proc.add(fake(10, "app", 40 * kMib));
  looked.tick();
  CHECK_FALSE(grows_to(41 * kMib));
  CHECK_FALSE(grows_to(80 * kMib));
  looked.clock.step_wall(-10'000);
  CHECK_FALSE(grows_to(80 * kMib));
  CHECK_FALSE(grows_to(110 * kMib));
}

TEST_CASE("looks: of several that grow fast the one that grew most is told, and what is available") {
  Looked looked;
  looked.proc.write(SystemFile::meminfo, meminfo(6'000'000));
  for (const std::int32_t pid : {10, 11, 12}) looked.proc.add(fake(pid, "app", 20 * kMib));
  looked.tick();
  looked.proc.update(fake(10, "app", 200 * kMib));
  looked.proc.update(fake(11, "app", 300 * kMib));
  const TickSource::Look look = looked.look(12, 100 * kMib);
  REQUIRE(look.growth);
  CHECK(look.growth->pid == 11);
  CHECK(look.available_kib == 6'000'000);
  CHECK_FALSE(look.oom_kill);
}

TEST_CASE("looks: fast is what doubles, or eats much of what is available, and is not small") {
  CHECK(rises_fast(64 * kMib, 128 * kMib, 64'000 * kMib));
  CHECK_FALSE(rises_fast(30 * kMib, 90 * kMib, 64'000 * kMib));
  CHECK_FALSE(rises_fast(1000 * kMib, 1100 * kMib, 64'000 * kMib));
  CHECK(rises_fast(1000 * kMib, 1100 * kMib, 700 * kMib));
  CHECK_FALSE(rises_fast(1000 * kMib, 100 * kMib, 0));
}

TEST_CASE("looks: before the first tick, and without a census, there is nothing to look at") {
  Machine machine;
  CHECK(machine.collector->look().cost == Cost{});
  machine.tick();
  machine.collector->look();
  CHECK(machine.tick().looks.count == 0);
  Looked looked;
  looked.collector->look();
  CHECK(looked.script->looks == 0);
}

TEST_CASE("looks: a census that fails between ticks gives way to that by /proc") {
  Looked looked;
  looked.proc.add(fake(10, "app", 50 * kMib));
  looked.tick();
  looked.script->fails = true;
  looked.look(10, 90 * kMib);
  const Tick tick = looked.tick(10, 50 * kMib);
  REQUIRE(tick.extremes.processes.size() == 1);
  CHECK(looked.collector->access().census == "proc");
}

}  // namespace memoir::test
