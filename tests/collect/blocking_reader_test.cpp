#include "collect/worker/blocking_reader.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <thread>

#include "base/clock.h"
#include "collect/collector_fixture.h"
#include "door.h"

using namespace memoir;
using namespace memoir::test;

namespace {

struct TestJob final : BlockingJob {
  explicit TestJob(std::shared_ptr<Door> wait_at = nullptr) : BlockingJob(CostKind::rollup), door(std::move(wait_at)) {}
  void run(Buffer& /*buffer*/) override {
    if (door != nullptr) door->wait();
    std::this_thread::sleep_for(takes);
    ++runs;
  }
  const std::shared_ptr<Door> door;
  std::chrono::milliseconds takes{0};
  int runs = 0;
};

std::shared_ptr<TestJob> owned(std::uint32_t uid, std::shared_ptr<Door> wait_at = nullptr,
                               std::chrono::milliseconds takes = {}) {
  auto job = std::make_shared<TestJob>(std::move(wait_at));
  job->set_owner(uid);
  job->takes = takes;
  return job;
}

struct ThrowingJob final : BlockingJob {
  ThrowingJob() : BlockingJob(CostKind::identity) {}
  void run(Buffer& /*buffer*/) override { throw std::runtime_error("no"); }
};

using Jobs = std::vector<std::shared_ptr<BlockingJob>>;

// Deadline of tests in which it passes. It is long enough for an ordinary job on a busy machine. Tests in which the
// deadline must not pass use a long one.
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
      CHECK_FALSE(job->is_stuck());
      CHECK(job->runs == round);
    }
  }
  reader.run({}, cost);
  CHECK(reader.stuck() == 0);
}

TEST_CASE("a job that throws does not affect other jobs") {
  BlockingReader reader(kLong);
  const auto after = std::make_shared<TestJob>();
  TickCost cost{};
  reader.run({std::make_shared<ThrowingJob>(), after}, cost);
  CHECK(after->runs == 1);
}

TEST_CASE("a job past its deadline is kept, and the others continue") {
  const auto door = std::make_shared<Door>();
  BlockingReader reader(kShort);
  const auto before = std::make_shared<TestJob>();
  const auto stuck = std::make_shared<TestJob>(door);
  const auto after = std::make_shared<TestJob>();
  TickCost cost{};
  reader.run({before, stuck, after}, cost);
  CHECK(before->done());
  CHECK_FALSE(stuck->done());
  CHECK(stuck->is_stuck());
  CHECK(after->done());
  CHECK(reader.stuck() == 1);
  door->open();
  wait_until_free(reader);
  CHECK_FALSE(stuck->is_stuck());
  CHECK_FALSE(stuck->done());
  reader.run({stuck}, cost);
  CHECK(stuck->done());
  CHECK(stuck->runs == 2);
}

TEST_CASE("the deadline applies to each read of a job with several") {
  struct LongJob final : BlockingJob {
    LongJob() : BlockingJob(CostKind::machine) {}
    void run(Buffer& /*buffer*/) override {
      for (const std::int64_t end_us = steady_us() + 3'000 * kShort.count(); steady_us() < end_us;) {
        note_progress();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    }
  };
  BlockingReader reader(kShort);
  const auto job = std::make_shared<LongJob>();
  TickCost cost{};
  reader.run({job}, cost);
  CHECK(job->done());
}

TEST_CASE("at most a fixed number of one user's reads can hang, and other users' reads proceed") {
  constexpr std::uint32_t attacker = 1000;
  const auto door = std::make_shared<Door>();
  BlockingReader reader(kShort);
  Jobs jobs;
  for (int i = 0; i < 60; ++i) jobs.push_back(owned(attacker, door));
  for (int i = 0; i < 60; ++i) jobs.push_back(owned(i % 2 == 0 ? 0 : 1001));
  TickCost cost{};
  for (int tick = 1; tick <= 3; ++tick) {
    reader.begin(tick * 10'000'000);
    Jobs free;
    std::copy_if(jobs.begin(), jobs.end(), std::back_inserter(free), [](const auto& job) { return !job->is_stuck(); });
    reader.run(free, cost);
    CHECK(reader.stuck() == ReadBudget::kMaxStuckOfOne);
    for (std::size_t i = 0; i < jobs.size(); ++i) CHECK(jobs[i]->done() == (i >= 60));
  }
  door->open();
  wait_until_free(reader);
  // The time of the hanging reads is paid back gradually.
  for (int tick = 4; !std::all_of(jobs.begin(), jobs.end(), [](const auto& job) { return job->done(); }); ++tick) {
    reader.begin(tick * 10'000'000);
    reader.run(jobs, cost);
  }
}

TEST_CASE("reads of slow users come last and use a bounded part of a tick") {
  constexpr std::uint32_t attacker = 1000;
  BlockingReader reader(kLong);
  std::vector<std::shared_ptr<TestJob>> slow;
  for (int i = 0; i < 60; ++i) slow.push_back(owned(attacker, nullptr, std::chrono::milliseconds(100)));
  std::vector<std::shared_ptr<TestJob>> others;
  for (int i = 0; i < 20; ++i) others.push_back(owned(1001));
  Jobs jobs(slow.begin(), slow.end());
  jobs.insert(jobs.end(), others.begin(), others.end());
  TickCost cost{};
  for (int tick = 1; tick <= 2; ++tick) {
    reader.begin(tick * 10'000'000);
    reader.run(jobs, cost);
    for (const auto& job : others) CHECK(job->runs == tick);
    const auto read = std::count_if(slow.begin(), slow.end(), [](const auto& job) { return job->done(); });
    CHECK(read > 0);
    CHECK(read <= 10);
    // Processes that were read in the previous tick wait for the others.
    CHECK(std::none_of(slow.begin(), slow.end(), [](const auto& job) { return job->runs > 1; }));
  }
}

TEST_CASE("hanging reads of four users delay none of root's") {
  const auto door = std::make_shared<Door>();
  BlockingReader reader(kShort);
  Jobs jobs;
  for (int i = 0; i < 40; ++i) jobs.push_back(owned(1000 + static_cast<std::uint32_t>(i) % 4, door));
  for (int i = 0; i < 20; ++i) jobs.push_back(owned(0));
  TickCost cost{};
  for (int tick = 1; tick <= 3; ++tick) {
    reader.begin(tick * 10'000'000);
    Jobs free;
    std::copy_if(jobs.begin(), jobs.end(), std::back_inserter(free), [](const auto& job) { return !job->is_stuck(); });
    reader.run(free, cost);
    for (std::size_t i = 40; i < jobs.size(); ++i) CHECK(jobs[i]->done());
  }
  CHECK(reader.stuck() <= 4 * ReadBudget::kMaxStuckOfOne);
  door->open();
  wait_until_free(reader);
}

TEST_CASE("root's reads come before those of users") {
  BlockingReader reader(kLong);
  std::vector<std::uint32_t> order;
  struct OrderJob final : BlockingJob {
    OrderJob(std::uint32_t uid, std::vector<std::uint32_t>& uids) : BlockingJob(CostKind::identity), order(uids) {
      set_owner(uid);
    }
    void run(Buffer& /*buffer*/) override { order.push_back(owner()); }
    std::vector<std::uint32_t>& order;
  };
  Jobs jobs;
  for (const std::uint32_t uid : {1000U, 0U, 1001U, 0U}) jobs.push_back(std::make_shared<OrderJob>(uid, order));
  TickCost cost{};
  reader.run(jobs, cost);
  CHECK(order == std::vector<std::uint32_t>{0, 0, 1000, 1001});
}

TEST_CASE("an abandoned worker's CPU time counts in the tick at which it returns") {
  constexpr std::int64_t kBusyUs = 20'000;
  struct BusyJob final : BlockingJob {
    explicit BusyJob(std::shared_ptr<Door> wait_at) : BlockingJob(CostKind::identity), door(std::move(wait_at)) {}
    void run(Buffer& /*buffer*/) override {
      door->wait();
      const std::int64_t end_us = thread_cpu_us() + kBusyUs;
      while (thread_cpu_us() < end_us) {
      }
    }
    const std::shared_ptr<Door> door;
  };
  const auto door = std::make_shared<Door>();
  BlockingReader reader(kShort);
  TickCost cost{};
  CHECK(reader.run({std::make_shared<BusyJob>(door)}, cost) < kBusyUs);
  door->open();
  wait_until_free(reader);
  CHECK(reader.run({}, cost) >= kBusyUs);
  CHECK(cost[static_cast<std::size_t>(CostKind::identity)].cpu_us >= kBusyUs);
  CHECK(reader.run({}, cost) == 0);
}

TEST_CASE("destruction does not wait for a stuck worker") {
  const auto door = std::make_shared<Door>();
  const auto stuck = std::make_shared<TestJob>(door);
  {
    BlockingReader reader(kShort);
    TickCost cost{};
    reader.run({stuck}, cost);
    CHECK(stuck->is_stuck());
  }
  door->open();
  while (stuck->is_stuck()) std::this_thread::yield();
  CHECK(stuck->runs == 1);
}

TEST_CASE("a blocked rollup delays neither the tick nor other processes") {
  CollectorOptions options = many_descriptors();
  options.read_deadline = kShort;
  Machine machine(options);
  machine.proc.add(fake(10, "app"));
  machine.proc.add(fake(11, "stuck"));
  machine.proc.add(fake(12, "app"));
  machine.proc.block(11, PidFile::smaps_rollup);
  for (int i = 0; i < 2; ++i) {  // the read still hangs in the second tick, and is not repeated
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

TEST_CASE("an identity that blocks is reported once it is known") {
  CollectorOptions options = many_descriptors();
  options.read_deadline = kShort;
  Machine machine(options);
  machine.proc.add(fake(10, "app"));
  machine.proc.block(10, PidFile::cmdline);
  const Tick first = machine.tick();
  CHECK(first.counts.blocked == 1);
  CHECK(first.counts.born == 1);
  CHECK(born_of(first, 10).command == "[app]");
  // Reading the command line of a blocked process would block as well.
  CHECK(sample_of(first, 10).source == Source::approximate);
  machine.proc.unblock(10, PidFile::cmdline);
  machine.proc.remove(10, PidFile::cmdline);
  machine.proc.update(fake(10, "app"));
  Tick tick = machine.tick();
  while (tick.born.empty()) tick = machine.tick();
  CHECK(tick.born[0].key == first.born[0].key);
  CHECK(tick.born[0].command == "/usr/bin/app");
  CHECK(tick.counts.born == 0);
  CHECK(sample_of(tick, 10).source == Source::exact);
}

TEST_CASE("blocking processes of a user delay no other user's reads; the user is named, and the end is reported") {
  constexpr std::uint32_t attacker = 4242;  // a uid without a name
  CollectorOptions options = many_descriptors();
  options.read_deadline = kShort;
  Machine machine(options);
  const auto of_attacker = [](std::int32_t pid) {
    FakeProcess process = fake(pid, "attack");
    process.uid = attacker;
    return process;
  };
  for (std::int32_t pid = 100; pid < 160; ++pid) machine.proc.add(of_attacker(pid));
  for (std::int32_t pid = 200; pid < 242; ++pid) machine.proc.add(fake(pid, "app"));
  // The command lines of half of the attacker's processes block as well.
  for (std::int32_t pid = 100; pid < 160; ++pid) machine.proc.block(pid, PidFile::smaps_rollup);
  for (std::int32_t pid = 100; pid < 130; ++pid) machine.proc.block(pid, PidFile::cmdline);
  std::vector<Event> events;
  for (int i = 0; i < 5; ++i) {
    machine.proc.add(fake(300 + i, "new"));
    const Tick tick = machine.tick();
    events.insert(events.end(), machine.collector->events().begin(), machine.collector->events().end());
    CHECK(born_of(tick, 300 + i).command == "/usr/bin/new");
    CHECK(tick.counts.blocked == 60);
    for (const ProcessSample& sample : tick.processes) {
      CHECK(sample.source == (sample.key.pid < 200 ? Source::approximate : Source::exact));
    }
    machine.clock.advance(10'000);
  }
  REQUIRE(events.size() == 1);
  CHECK(events[0].kind == "degraded");
  CHECK_THAT(events[0].text, ContainsSubstring("uid 4242") && ContainsSubstring("60 of them"));

  for (std::int32_t pid = 100; pid < 160; ++pid) {
    machine.proc.unblock(pid, PidFile::smaps_rollup);
    machine.proc.unblock(pid, PidFile::cmdline);
    machine.proc.remove(pid);
  }
  for (int i = 0; i < 61; ++i) {
    machine.tick();
    events.insert(events.end(), machine.collector->events().begin(), machine.collector->events().end());
    machine.clock.advance(10'000);
  }
  REQUIRE(events.size() == 2);
  CHECK(events[1].kind == "restored");
  CHECK_THAT(events[1].text, ContainsSubstring("uid 4242"));
}

TEST_CASE("a process is skipped for a while after a read timed out, longer each time") {
  CollectorOptions options = many_descriptors();
  options.read_deadline = kShort;
  Machine machine(options);
  machine.proc.add(fake(10, "app"));
  machine.proc.block(10, PidFile::smaps_rollup);
  const auto ticks_until_asked = [&machine] {
    int ticks = 0;
    do {
      CHECK(machine.tick().counts.blocked == 1);
      ++ticks;
    } while (!machine.proc.unblock(10, PidFile::smaps_rollup));
    machine.proc.block(10, PidFile::smaps_rollup);
    return ticks;
  };
  CHECK(ticks_until_asked() == 1);
  // The ticks of this machine are one second apart.
  for (const int pause : {10, 20, 40, 80}) CHECK(ticks_until_asked() >= pause);
}

TEST_CASE("a collector with a hanging read is destroyed at once, and the process may exit during it") {
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
