#include "collect/blocking_reader.h"

#include <stdexcept>
#include <thread>

#include "collect/collector_fixture.h"
#include "door.h"

using namespace memoir;
using namespace memoir::test;

namespace {

struct TestJob final : BlockingJob {
  explicit TestJob(std::shared_ptr<Door> wait_at = nullptr) : BlockingJob(CostKind::rollup), door(std::move(wait_at)) {}
  void run(Buffer& /*buffer*/) override {
    if (door != nullptr) door->wait();
    ++runs;
  }
  const std::shared_ptr<Door> door;
  int runs = 0;
};

struct ThrowingJob final : BlockingJob {
  ThrowingJob() : BlockingJob(CostKind::identity) {}
  void run(Buffer& /*buffer*/) override { throw std::runtime_error("no"); }
};

using Jobs = std::vector<std::shared_ptr<BlockingJob>>;

// The deadline of tests that wait for it is short, though a busy machine must not make an ordinary job meet it; of
// those that must never meet it, long.
constexpr std::chrono::milliseconds kShort{200};
constexpr std::chrono::milliseconds kLong{60'000};

void wait_until_free(const BlockingReader& reader) {
  while (reader.stuck() > 0) std::this_thread::yield();
}

}  // namespace

TEST_CASE("all jobs are run, in order, batch after batch") {
  BlockingReader reader(kLong);
  std::vector<std::shared_ptr<TestJob>> jobs;
  for (int i = 0; i < 100; ++i) jobs.push_back(std::make_shared<TestJob>());
  TickCost cost{};
  for (int round = 1; round <= 3; ++round) {
    reader.run(Jobs(jobs.begin(), jobs.end()), cost);
    for (const auto& job : jobs) {
      CHECK(job->done());
      CHECK_FALSE(job->held());
      CHECK(job->runs == round);
    }
  }
  reader.run({}, cost);
  CHECK(reader.stuck() == 0);
}

TEST_CASE("a job that throws harms no other") {
  BlockingReader reader(kLong);
  const auto after = std::make_shared<TestJob>();
  TickCost cost{};
  reader.run({std::make_shared<ThrowingJob>(), after}, cost);
  CHECK(after->runs == 1);
}

TEST_CASE("a job that overstays is held, and the rest go on") {
  const auto door = std::make_shared<Door>();
  BlockingReader reader(kShort);
  const auto before = std::make_shared<TestJob>();
  const auto stuck = std::make_shared<TestJob>(door);
  const auto after = std::make_shared<TestJob>();
  TickCost cost{};
  reader.run({before, stuck, after}, cost);
  CHECK(before->done());
  CHECK_FALSE(stuck->done());
  CHECK(stuck->held());
  CHECK(after->done());
  CHECK(reader.stuck() == 1);
  door->open();
  wait_until_free(reader);
  CHECK_FALSE(stuck->held());
  CHECK_FALSE(stuck->done());
  reader.run({stuck}, cost);
  CHECK(stuck->done());
  CHECK(stuck->runs == 2);
}

TEST_CASE("only so many workers get stuck; then jobs are passed over until one is free") {
  const auto door = std::make_shared<Door>();
  BlockingReader reader(std::chrono::milliseconds(5));
  Jobs jobs;
  for (int i = 0; i < 20; ++i) jobs.push_back(std::make_shared<TestJob>(door));
  TickCost cost{};
  reader.run(jobs, cost);
  CHECK(reader.stuck() == BlockingReader::kMaxStuck);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    CHECK(jobs[i]->held() == (i < static_cast<std::size_t>(BlockingReader::kMaxStuck)));
    CHECK_FALSE(jobs[i]->done());
  }
  const auto passed = std::make_shared<TestJob>();
  reader.run({passed}, cost);
  CHECK_FALSE(passed->done());
  door->open();
  do {
    wait_until_free(reader);
    reader.run({passed}, cost);
  } while (!passed->done());
}

TEST_CASE("destruction does not wait for a stuck worker") {
  const auto door = std::make_shared<Door>();
  const auto stuck = std::make_shared<TestJob>(door);
  {
    BlockingReader reader(kShort);
    TickCost cost{};
    reader.run({stuck}, cost);
    CHECK(stuck->held());
  }
  door->open();
  while (stuck->held()) std::this_thread::yield();
  CHECK(stuck->runs == 1);
}

TEST_CASE("a rollup that blocks holds up neither the tick nor the other processes") {
  CollectorOptions options = many_descriptors();
  options.read_deadline = kShort;
  Machine machine(options);
  machine.proc.add(fake(10, "app"));
  machine.proc.add(fake(11, "stuck"));
  machine.proc.add(fake(12, "app"));
  machine.proc.block(11, PidFile::smaps_rollup);
  for (int i = 0; i < 2; ++i) {  // the second time it is still held, and not asked again
    const Tick tick = machine.tick();
    CHECK(tick.counts.blocked == 1);
    CHECK(tick.counts.seen == 3);
    CHECK(sample_of(tick, 10).source == Source::exact);
    CHECK(sample_of(tick, 11).source == Source::approximate);
    CHECK(sample_of(tick, 11).memory.get(ProcessField::pss) == 1200);
    CHECK(sample_of(tick, 12).source == Source::exact);
    CHECK(tick.born.size() == (i == 0 ? 3U : 0U));
  }
  machine.proc.unblock(11, PidFile::smaps_rollup);
  machine.proc.remove(11, PidFile::smaps_rollup);
  machine.proc.update(fake(11, "stuck"));
  Tick tick = machine.tick();
  while (tick.counts.blocked > 0) tick = machine.tick();
  CHECK(sample_of(tick, 11).source == Source::exact);
  CHECK(tick.counts.execed == 0);
}

TEST_CASE("an identity that blocks is told when it is known") {
  CollectorOptions options = many_descriptors();
  options.read_deadline = kShort;
  Machine machine(options);
  machine.proc.add(fake(10, "app"));
  machine.proc.block(10, PidFile::cmdline);
  const Tick first = machine.tick();
  CHECK(first.counts.blocked == 1);
  CHECK(first.counts.born == 1);
  CHECK(born_of(first, 10).command == "[app]");
  CHECK(sample_of(first, 10).source == Source::exact);
  machine.proc.unblock(10, PidFile::cmdline);
  machine.proc.remove(10, PidFile::cmdline);
  machine.proc.update(fake(10, "app"));
  Tick tick = machine.tick();
  while (tick.born.empty()) tick = machine.tick();
  CHECK(tick.born[0].key == first.born[0].key);
  CHECK(tick.born[0].command == "/usr/bin/app");
  CHECK(tick.counts.born == 0);
}

TEST_CASE("a collector with a stuck read is destroyed at once, and a process may end while it is held") {
  CollectorOptions options = many_descriptors();
  options.read_deadline = kShort;
  FakeProc* proc = nullptr;
  Machine machine(options);
  proc = &machine.proc;
  proc->add(fake(10, "stuck"));
  proc->add(fake(11, "stuck"));
  proc->block(10, PidFile::smaps_rollup);
  proc->block(11, PidFile::smaps_rollup);
  CHECK(machine.tick().counts.blocked == 2);
  proc->unblock(10, PidFile::smaps_rollup);
  proc->remove(10);
  CHECK(machine.tick().counts.exited == 1);
  machine.collector.reset();
  proc->unblock(11, PidFile::smaps_rollup);
}
