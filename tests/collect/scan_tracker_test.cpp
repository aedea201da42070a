// Extremes that scans observe between two ticks, beyond the values of both ticks.

#include "collect/scan_tracker.h"

#include "collect/collector_fixture.h"
#include "support/fake_census.h"

namespace memoir::test {
namespace {

constexpr std::int64_t kMib = 1024;

struct Scanned {
  explicit Scanned(bool by_proc = false)
      : collector(make_collector(proc.proc(), clock, many_descriptors(), by_proc ? none() : scripted())) {}

  using Found = Result<std::unique_ptr<Census>>;
  static Found none() { return Error{ErrorKind::denied, "no BPF here"}; }
  Found scripted() const { return std::unique_ptr<Census>(std::make_unique<FakeCensus>(proc.proc(), script)); }

  // scan() scans, and tick() takes a tick, while `pid` has this RSS. The clock then advances by a second.
  TickSource::ScanResult scan(std::int32_t pid, std::int64_t kib) {
    proc.update(fake(pid, "app", kib));
    const TickSource::ScanResult result = collector->scan();
    clock.advance(1000);
    return result;
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

// A process with `kib` of private memory and 200 KiB of a file.
std::int64_t rss(std::int64_t kib) {
  return kib + 200;
}

std::string meminfo(std::int64_t available_kib) {
  return "MemTotal: 8388608 kB\nMemFree: 1000 kB\nMemAvailable: " + std::to_string(available_kib) + " kB\n";
}

}  // namespace

TEST_CASE("scans: minimum and maximum between two ticks, with their times") {
  Scanned scanned(GENERATE(false, true));
  scanned.proc.add(fake(10, "app", 50 * kMib));
  scanned.tick();
  const std::int64_t first_ms = scanned.clock.now().wall_ms;
  scanned.scan(10, 60 * kMib);
  const std::int64_t highest_ms = scanned.clock.now().wall_ms;
  scanned.scan(10, 90 * kMib);
  scanned.scan(10, 90 * kMib);
  const std::int64_t lowest_ms = scanned.clock.now().wall_ms;
  scanned.scan(10, 20 * kMib);
  const Tick tick = scanned.tick(10, 55 * kMib);
  REQUIRE(tick.extremes.processes.size() == 1);
  const ProcessExtremes& of = tick.extremes.processes.front();
  CHECK(of.process == sample_of(tick, 10).key);
  CHECK(of.rss.highest == SeenSize{rss(90 * kMib), highest_ms, first_ms});
  CHECK(of.rss.lowest == SeenSize{rss(20 * kMib), lowest_ms});
  CHECK(of.anon.highest == SeenSize{90 * kMib, highest_ms, first_ms});
  CHECK(of.anon.lowest == SeenSize{20 * kMib, lowest_ms});
  CHECK_FALSE(of.hwm.any());
  CHECK(tick.scans.count == 4);
  REQUIRE(tick.extremes.categories.size() == 1);
  CHECK(tick.extremes.categories.front().rss.highest == SeenSize{rss(90 * kMib), highest_ms, first_ms});
  CHECK_FALSE(tick.extremes.categories.front().rss.lowest);
  SECTION("they start again with each tick") {
    scanned.scan(10, 55 * kMib);
    const Tick next = scanned.tick();
    CHECK(next.extremes == TickExtremes{});
    CHECK(next.scans.count == 1);
  }
}

TEST_CASE("scans: values equal or close to those of either tick are no extremes") {
  Scanned scanned;
  scanned.proc.add(fake(10, "app", 50 * kMib));
  scanned.proc.add(fake(11, "app", 100));
  scanned.tick();
  scanned.scan(10, 80 * kMib);
  scanned.scan(11, 350);
  const Tick tick = scanned.tick(10, 80 * kMib - 1000);
  CHECK(tick.extremes.processes.empty());
}

TEST_CASE("scans: an exited process has its maximum and its high-water mark") {
  Scanned scanned;
  scanned.proc.add(fake(10, "app", 50 * kMib));
  scanned.proc.add(fake(11, "app", kMib));
  scanned.tick();
  const std::int64_t at_ms = scanned.clock.now().wall_ms;
  scanned.scan(10, 900 * kMib);
  scanned.proc.remove(10);
  // A process that was absent from the previous tick has no scan extremes, but its high-water mark is known.
  scanned.proc.add(fake(12, "app", kMib));
  scanned.scan(12, 700 * kMib);
  const Tick tick = scanned.tick(12, kMib);
  REQUIRE(tick.extremes.processes.size() == 1);
  const ProcessExtremes& of = tick.extremes.processes.front();
  CHECK(of.process.pid == 10);
  CHECK(of.rss.highest == SeenSize{rss(900 * kMib), at_ms});
  CHECK(of.hwm.highest == SeenSize{rss(900 * kMib), at_ms});
}

TEST_CASE("scans: after pid reuse or an exec no extremes of the previous process remain") {
  Scanned scanned;
  scanned.proc.add(fake(10, "app", 50 * kMib));
  scanned.proc.add(fake(11, "app", 50 * kMib));
  scanned.tick();
  FakeProcess other = fake(10, "other", 900 * kMib);
  other.start_ticks += 7;
  scanned.proc.remove(10);
  scanned.proc.add(other);
  FakeProcess image = fake(11, "image", 2 * kMib);
  scanned.proc.exec(image);
  scanned.collector->scan();
  image.memory = memory_of(30 * kMib, 200);
  scanned.proc.update(image);
  const Tick tick = scanned.tick();
  CHECK(tick.counts.execed == 1);
  CHECK(tick.extremes.processes.empty());
}

TEST_CASE("scans: the machine's available and used memory") {
  Scanned scanned;
  scanned.proc.write(SystemFile::meminfo, meminfo(6'000'000));
  scanned.tick();
  scanned.proc.write(SystemFile::meminfo, meminfo(1'000'000));
  const std::int64_t at_ms = scanned.clock.now().wall_ms;
  scanned.collector->scan();
  scanned.clock.advance(1000);
  scanned.proc.write(SystemFile::meminfo, meminfo(5'000'000));
  const Tick tick = scanned.tick();
  CHECK(tick.extremes.available.lowest == SeenSize{1'000'000, at_ms});
  CHECK_FALSE(tick.extremes.available.highest);
  CHECK(tick.extremes.used.highest == SeenSize{7'388'608, at_ms});
  CHECK_FALSE(tick.extremes.used.lowest);
}

TEST_CASE("scans: a fast-growing process triggers a tick") {
  Scanned scanned;
  scanned.proc.add(fake(10, "app", 50 * kMib));
  scanned.tick();
  CHECK_FALSE(scanned.scan(10, 60 * kMib).growth);
  CHECK(scanned.scan(10, 200 * kMib).growth == FastGrowth{"app", 10, rss(60 * kMib), rss(200 * kMib)});
  CHECK_FALSE(scanned.scan(10, 200 * kMib).growth);
}

TEST_CASE("scans: growth is judged per second, at any scan interval") {
  Scanned scanned;
  scanned.proc.add(fake(10, "app", 20 * kMib));
  scanned.tick();
  scanned.scan(10, 20 * kMib);
  int fast = 0;
  for (int tenth = 0; tenth < 20; ++tenth) {
    scanned.proc.update(fake(10, "app", (20 + 10 * tenth) * kMib));
    fast += scanned.collector->scan().growth ? 1 : 0;
    scanned.clock.advance(100);
  }
  CHECK(fast == 2);
}

TEST_CASE("scans: after the clock was set back, growth is judged from the value then") {
  Scanned scanned;
  const auto grows_to = [&](std::int64_t kib) {
    scanned.proc.update(fake(10, "app", kib));
    const bool fast = scanned.collector->scan().growth.has_value();
    scanned.clock.advance(100);
    return fast;
  };
  scanned.proc.add(fake(10, "app", 40 * kMib));
  scanned.tick();
  CHECK_FALSE(grows_to(41 * kMib));
  CHECK_FALSE(grows_to(80 * kMib));
  scanned.clock.step_wall(-10'000);
  CHECK_FALSE(grows_to(80 * kMib));
  CHECK_FALSE(grows_to(110 * kMib));
}

TEST_CASE("scans: the process that grew most is reported, with available memory") {
  Scanned scanned;
  scanned.proc.write(SystemFile::meminfo, meminfo(6'000'000));
  for (const std::int32_t pid : {10, 11, 12}) scanned.proc.add(fake(pid, "app", 20 * kMib));
  scanned.tick();
  scanned.proc.update(fake(10, "app", 200 * kMib));
  scanned.proc.update(fake(11, "app", 300 * kMib));
  const TickSource::ScanResult result = scanned.scan(12, 100 * kMib);
  REQUIRE(result.growth);
  CHECK(result.growth->pid == 11);
  CHECK(result.available_kib == 6'000'000);
  CHECK_FALSE(result.oom_kill);
}

TEST_CASE("scans: growth is fast if the size doubles or much available memory is used, but not if it is small") {
  CHECK(rises_fast(64 * kMib, 128 * kMib, 64'000 * kMib));
  CHECK_FALSE(rises_fast(30 * kMib, 90 * kMib, 64'000 * kMib));
  CHECK_FALSE(rises_fast(1000 * kMib, 1100 * kMib, 64'000 * kMib));
  CHECK(rises_fast(1000 * kMib, 1100 * kMib, 700 * kMib));
  CHECK_FALSE(rises_fast(1000 * kMib, 100 * kMib, 0));
}

TEST_CASE("scans: there are none before the first tick or without a census") {
  Machine machine;
  CHECK(machine.collector->scan().cost == Cost{});
  machine.tick();
  machine.collector->scan();
  CHECK(machine.tick().scans.count == 0);
  Scanned scanned;
  scanned.collector->scan();
  CHECK(scanned.script->reads == 0);
}

TEST_CASE("scans: a census that fails between ticks is replaced by /proc") {
  Scanned scanned;
  scanned.proc.add(fake(10, "app", 50 * kMib));
  scanned.tick();
  scanned.script->fails = true;
  scanned.scan(10, 90 * kMib);
  const Tick tick = scanned.tick(10, 50 * kMib);
  REQUIRE(tick.extremes.processes.size() == 1);
  CHECK(scanned.collector->access().census == "proc");
}

}  // namespace memoir::test
