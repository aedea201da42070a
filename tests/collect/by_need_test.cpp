// Reads of smaps_rollup on demand: which processes are read, and the samples of the others.

#include <cstdint>
#include <cstdlib>
#include <thread>
#include <vector>

#include "collect/collector_fixture.h"
#include "collect/pss/pool.h"
#include "collect/pss/read_selection.h"

using namespace memoir;
using namespace memoir::test;

using F = ProcessField;

namespace {

CollectorOptions by_need() {
  CollectorOptions options = many_descriptors();
  options.read_share_ppm = 5'000;
  return options;
}

// Changes the PSS in smaps_rollup but nothing in status, as if another process mapped the same file.
FakeProcess shared_by_another(FakeProcess process) {
  process.memory.set(F::pss, 1'050);
  process.memory.set(F::pss_file, 50);
  return process;
}

// Makes a tick after a long pause, because the minimum pause between two reads depends on the duration of the first.
Tick rested(Machine& machine) {
  machine.clock.advance(kGreatestAgeMs / 2);
  return machine.tick();
}

}  // namespace

TEST_CASE("on demand: an unchanged process is not read again until its reading is ten minutes old") {
  Machine machine(by_need());
  const FakeProcess app = fake(10, "app");
  machine.proc.add(app);
  const Tick first = machine.tick();
  CHECK(sample_of(first, 10).source == Source::exact);
  CHECK(first.reads.exact == 1);
  const auto pss = sample_of(first, 10).memory.get(F::pss);

  machine.proc.update(shared_by_another(app));
  const Tick second = machine.tick();
  CHECK(sample_of(second, 10).source == Source::held);
  CHECK(sample_of(second, 10).memory.get(F::pss) == pss);
  CHECK(second.reads.held == 1);
  CHECK(second.cost[static_cast<std::size_t>(CostKind::rollup)].cpu_us < 1'000'000);
  // A second keyframe does not read all processes either.
  CHECK(sample_of(machine.tick(true), 10).source == Source::held);

  machine.clock.advance(kGreatestAgeMs);
  const Tick old = machine.tick();
  CHECK(sample_of(old, 10).source == Source::exact);
  CHECK(sample_of(old, 10).memory.get(F::pss) == 1'050);
}

TEST_CASE("on demand: a change of unshared memory needs no read") {
  Machine machine(by_need());
  FakeProcess app = fake(10, "app", 1'000);
  machine.proc.add(app);
  const Tick before = machine.tick();
  app.memory = memory_of(51'000, 200);
  machine.proc.update(app);
  const Tick after = machine.tick();
  const ProcessSample sample = sample_of(after, 10);
  CHECK(sample.source == Source::held);
  CHECK(*sample.memory.get(F::pss) - *sample_of(before, 10).memory.get(F::pss) == 50'000);
  CHECK(uss_kib(sample.memory) == uss_kib(app.memory));
  CHECK(sample.memory.get(F::rss) == app.memory.get(F::rss));
  CHECK(after.categories.at(0).inexact == 0);
}

TEST_CASE("on demand: in a burst a changed process is read even if its PSS is known without a read") {
  Machine machine(by_need());
  FakeProcess app = fake(10, "app", 1'000);
  machine.proc.add(app);
  machine.proc.add(fake(11, "still", 1'000));
  machine.tick();
  machine.collector->set_burst(true);
  app.memory = memory_of(51'000, 200);
  machine.proc.update(app);
  const Tick closely = rested(machine);
  CHECK(sample_of(closely, 10).source == Source::exact);
  CHECK(sample_of(closely, 11).source == Source::held);
  machine.collector->set_burst(false);
  app.memory = memory_of(101'000, 200);
  machine.proc.update(app);
  machine.clock.advance(10'000);
  CHECK(sample_of(machine.tick(), 10).source == Source::held);
}

TEST_CASE("on demand: a change of shared memory causes a read, a small one an estimate") {
  Machine machine(by_need());
  FakeProcess app = fake(10, "app", 1'000);
  machine.proc.add(app);
  machine.tick();
  app.memory = memory_of(1'000, 220);
  machine.proc.update(app);
  const Tick little = machine.tick();
  CHECK(sample_of(little, 10).source == Source::estimated);
  CHECK(little.reads.estimated == 1);
  CHECK(little.categories.at(0).inexact == 1);

  app.memory = memory_of(1'000, 2'200);
  machine.proc.update(app);
  const Tick much = rested(machine);
  CHECK(sample_of(much, 10).source == Source::exact);
  CHECK(sample_of(much, 10).memory == app.memory);
  CHECK(much.reads.checked == 1);
}

TEST_CASE("on demand: a requested tick reads every process, even over budget") {
  CollectorOptions options = by_need();
  options.read_share_ppm = 1;
  Machine machine(options);
  for (std::int32_t pid = 10; pid < 60; ++pid) machine.proc.add(fake(pid, "app", 1'000));
  machine.tick();
  CHECK(machine.tick().reads.exact == 0);
  machine.collector->request_all();
  CHECK(machine.tick().reads.exact == 50);
  CHECK(machine.tick().reads.exact == 0);
}

TEST_CASE("on demand: an exec is read at once; old readings of denied and exited processes are discarded") {
  Machine machine(by_need());
  machine.proc.add(fake(10, "sh", 100'000));
  machine.tick();
  machine.proc.exec(fake(10, "app", 500));
  const Tick exec = machine.tick();
  CHECK(sample_of(exec, 10).source == Source::exact);
  CHECK(sample_of(exec, 10).memory.get(F::private_dirty) == 500);
  machine.proc.become_zombie(fake(10, "app", 500));
  const Tick zombie = machine.tick();
  CHECK(sample_of(zombie, 10).source == Source::inaccessible);
  CHECK_FALSE(sample_of(zombie, 10).memory.has(F::pss));
}

TEST_CASE("on demand: a hanging read leaves the last values") {
  CollectorOptions options = by_need();
  options.max_descriptors = 0;
  options.read_deadline = std::chrono::milliseconds(200);
  Machine machine(options);
  FakeProcess app = fake(10, "app", 1'000);
  machine.proc.add(app);
  machine.tick();
  machine.proc.block(10, PidFile::smaps_rollup);
  app.memory = memory_of(1'000, 50'000);
  machine.proc.update(app);
  const Tick tick = rested(machine);
  CHECK(sample_of(tick, 10).source == Source::estimated);
  CHECK(tick.counts.blocked == 1);
  // After a hanging read the process is skipped for a while, and still estimated.
  const Tick later = machine.tick();
  CHECK(sample_of(later, 10).source == Source::estimated);
  CHECK(sample_of(later, 10).read_boot_ms == sample_of(tick, 10).read_boot_ms);
  while (!machine.proc.unblock(10, PidFile::smaps_rollup)) std::this_thread::yield();
}

TEST_CASE("on demand: a used-up budget defers the smaller changes, which are read later") {
  CollectorOptions options = by_need();
  options.read_share_ppm = 1;
  Machine machine(options);
  for (std::int32_t pid = 10; pid < 60; ++pid) machine.proc.add(fake(pid, "app", 1'000));
  CHECK(machine.tick().reads.exact == 50);  // the first tick reads all
  for (std::int32_t pid = 10; pid < 60; ++pid) {
    FakeProcess app = fake(pid, "app", 1'000);
    app.memory = memory_of(1'000, pid == 20 ? 90'000 : 9'000);
    machine.proc.update(app);
  }
  const Tick few = rested(machine);
  CHECK(few.reads.exact >= 1);
  CHECK(few.reads.deferred == 50 - few.reads.exact);
  CHECK(few.reads.deferred > 0);
  CHECK(sample_of(few, 20).source == Source::exact);
  std::int64_t waiting = 50;
  for (int minute = 0; minute < 1'000 && waiting > 0; ++minute) {
    machine.clock.advance(60'000);
    const Tick tick = machine.tick();
    waiting = tick.reads.estimated;
  }
  CHECK(waiting == 0);
}

TEST_CASE("on demand: of siblings that share memory, a few are read and the others are estimated from these") {
  Machine machine(by_need());
  constexpr std::int32_t count = 12;
  // Each process maps the same 100,000 KiB of shared memory, and a 13th of it counts as its PSS.
  const auto backend = [](std::int32_t pid, std::int64_t share_kib) {
    FakeProcess process = fake(pid, "postgres", 2'000);
    process.parent_pid = 10;
    process.memory.set(F::rss_shmem, 100'000);
    process.memory.set(F::pss_shmem, share_kib);
    for (const F field : {F::rss, F::vm_rss, F::vm_hwm, F::vm_size, F::vm_peak}) process.memory.set(field, 102'200);
    process.memory.set(F::pss, 2'100 + share_kib);
    process.memory.set(F::shared_dirty, 100'000);
    return process;
  };
  machine.proc.add(fake(10, "postgres"));
  for (std::int32_t pid = 11; pid < 11 + count; ++pid) machine.proc.add(backend(pid, 7'692));
  const Tick first = machine.tick();
  CHECK(first.reads.exact == 1 + kPoolReadings);
  CHECK(first.reads.estimated == count - kPoolReadings);
  for (std::int32_t pid = 11; pid < 11 + count; ++pid) {
    CAPTURE(pid);
    CHECK(std::abs(*sample_of(first, pid).memory.get(F::pss) - 9'792) <= 4);
    CHECK(sample_of(first, pid).memory.get(F::rss) == 102'200);
  }
  // Another sibling starts. This may change the PSS of all siblings, but none is read again so soon.
  machine.proc.add(backend(40, 7'142));
  const Tick second = machine.tick();
  CHECK(second.reads.exact <= 1);  // the new sibling's parent may be read
  for (std::int32_t pid = 11; pid < 11 + count; ++pid) CHECK(sample_of(second, pid).source != Source::exact);
  CHECK(std::abs(*sample_of(second, 40).memory.get(F::pss) - 9'792) <= 4);
  for (std::int32_t pid = 11; pid < 11 + count; ++pid) machine.proc.update(backend(pid, 7'142));
  machine.clock.advance(kPoolReadEveryMs);
  const Tick third = machine.tick();
  CHECK(third.reads.exact >= 1);
  CHECK(third.reads.exact <= static_cast<std::int64_t>(1 + kPoolReadings));
  CHECK(std::abs(*sample_of(third, 40).memory.get(F::pss) - 9'242) <= 400);
}

TEST_CASE("after a keyframe cgroups are read again, those of many processes over several ticks") {
  Machine machine;
  constexpr std::int32_t count = 200;
  for (std::int32_t pid = 10; pid < 10 + count; ++pid) machine.proc.add(fake(pid, "app"));
  machine.tick();
  for (std::int32_t pid = 10; pid < 10 + count; ++pid) machine.proc.write(pid, PidFile::cgroup, "0::/moved\n");
  CHECK(machine.tick().born.empty());
  std::vector<std::size_t> moved;
  moved.push_back(machine.tick(true).born.size());
  for (int tick = 0; tick < 5; ++tick) moved.push_back(machine.tick().born.size());
  CHECK(moved == std::vector<std::size_t>{64, 64, 64, 8, 0, 0});
}
