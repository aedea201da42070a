// The collector over many ticks on a fake /proc: cached descriptors, the next run, new rules, sums.

#include <map>

#include "collect/collector_fixture.h"

using namespace memoir;
using namespace memoir::test;

using F = ProcessField;

TEST_CASE("with fewer descriptors than files the ticks are the same") {
  for (const std::size_t descriptors : {0U, 1U, 7U, 20U, 25U, 40U}) {
    CAPTURE(descriptors);
    CollectorOptions options;
    options.max_descriptors = descriptors;
    Machine machine(options);
    for (std::int32_t pid = 1; pid <= 20; ++pid) machine.proc.add(fake(pid, "app", pid * 100));
    for (int i = 0; i < 3; ++i) {
      const Tick tick = machine.tick();
      CHECK(tick.counts.seen == 20);
      CHECK(tick.counts.born == (i == 0 ? 20 : 0));
      for (const ProcessSample& sample : tick.processes) {
        CHECK(sample.source == Source::exact);
        CHECK(sample.memory.get(F::private_dirty) == sample.key.pid * 100);
      }
    }
    // More processes start, and one exits.
    for (std::int32_t pid = 21; pid <= 30; ++pid) machine.proc.add(fake(pid, "app", pid * 100));
    machine.proc.remove(5);
    for (int i = 0; i < 3; ++i) {
      const Tick tick = machine.tick();
      CHECK(tick.counts.seen == 29);
      CHECK(tick.counts.exited == (i == 0 ? 1 : 0));
      CHECK(std::all_of(tick.processes.begin(), tick.processes.end(),
                        [](const ProcessSample& sample) { return sample.source == Source::exact; }));
    }
  }
}

TEST_CASE("no more descriptors are cached than allowed") {
  const auto open_files = [] {
    std::vector<std::int32_t> numbers;
    REQUIRE(ProcFs("/proc/self/fd").list(numbers).ok());
    return numbers.size();
  };
  const std::size_t before = open_files();
  CollectorOptions options;
  options.max_descriptors = 25;
  options.cgroup_root = "/nonexistent";
  Machine machine(options);
  for (std::int32_t pid = 1; pid <= 20; ++pid) machine.proc.add(fake(pid, "app"));
  for (int i = 0; i < 3; ++i) machine.tick();
  constexpr std::size_t machine_files = 3;
  CHECK(open_files() - before == 25 + machine_files);
  for (std::int32_t pid = 1; pid <= 20; ++pid) machine.proc.remove(pid);
  machine.tick();
  CHECK(open_files() - before == machine_files);
}

TEST_CASE("a cgroup is read again at keyframes") {
  Machine machine;
  FakeProcess app = fake(10, "app");
  machine.proc.add(app);
  machine.proc.add(fake(11, "app"));
  machine.tick(true);
  machine.proc.write(10, PidFile::cgroup, "0::/moved\n");
  CHECK(machine.tick().born.empty());
  const Tick tick = machine.tick(true);
  REQUIRE(tick.born.size() == 1);
  CHECK(tick.born[0].key == ProcessKey{10, 1010, 0});
  CHECK(tick.born[0].cgroup == "/moved");
  CHECK(tick.born[0].command == "/usr/bin/app");
  CHECK(tick.counts.born == 0);
  CHECK(machine.tick(true).born.empty());
}

TEST_CASE("exec counts continue from an earlier run") {
  Machine machine;
  for (const std::int32_t pid : {10, 11, 12, 13}) machine.proc.add(fake(pid, "app"));
  machine.collector->seed({
      {{10, 1010, 1}, "app", "/usr/bin/app"},
      {{10, 1010, 2}, "app", "/usr/bin/app"},
      {{11, 1011, 4}, "sh", "/bin/sh"},
      {{12, 999, 4}, "app", "/usr/bin/app"},
  });
  const Tick tick = machine.tick();
  CHECK(tick.counts.born == 4);
  CHECK(born_of(tick, 10).key.exec_count == 2);
  CHECK(born_of(tick, 11).key.exec_count == 5);
  CHECK(born_of(tick, 12).key.exec_count == 0);
  CHECK(born_of(tick, 13).key.exec_count == 0);
  CHECK(sample_of(tick, 11).key.exec_count == 5);
}

TEST_CASE("new rules apply to running processes") {
  Machine machine;
  FakeProcess app = fake(10, "app");
  app.arguments = {"app", "--pin=1234"};
  machine.proc.add(app);
  machine.proc.add(fake(11, "other"));
  CHECK(born_of(machine.tick(), 10).command == "app --pin=1234");
  CategoryRule rule;
  rule.name = "mine";
  rule.command = "^app";
  RedactionOptions redaction;
  redaction.rules = {{"^--pin=(.*)$", "", false, "", 1}};
  machine.collector->set_rules(*Categoriser::make({rule}), *Redactor::make(redaction));
  const Tick tick = machine.tick();
  REQUIRE(tick.born.size() == 1);
  CHECK(tick.born[0].key == ProcessKey{10, 1010, 0});
  CHECK(tick.born[0].command == "app --pin=[redacted]");
  CHECK(tick.born[0].category == "mine");
  CHECK(tick.counts.born == 0);
  REQUIRE(tick.categories.size() == 2);
  CHECK(tick.categories[0].category == "mine");
  CHECK(tick.categories[1].category == "other");
  CHECK(machine.tick().born.empty());
}

TEST_CASE("the categories add up to the processes") {
  Machine machine;
  const char* const names[] = {"nginx", "postgres", "redis-server", "app", "java", "sshd", "vim"};
  std::uint32_t random = 12345;
  const auto next = [&random](std::uint32_t below) {
    random = random * 1664525U + 1013904223U;
    return (random >> 8U) % below;
  };
  std::map<std::int32_t, std::string> category;
  std::vector<bool> alive(60);
  for (int round = 0; round < 20; ++round) {
    for (std::size_t slot = 0; slot < alive.size(); ++slot) {
      const auto pid = static_cast<std::int32_t>(slot + 1);
      if (next(3) != 0) continue;
      if (alive[slot]) {
        machine.proc.remove(pid);
      } else {
        FakeProcess process = fake(pid, names[next(7)], next(100000));
        process.start_ticks = static_cast<std::uint64_t>(round) * 100 + slot;
        machine.proc.add(process);
        if (next(4) == 0) machine.proc.remove(pid, PidFile::smaps_rollup);
        if (next(8) == 0) machine.proc.become_zombie(process);
      }
      alive[slot] = !alive[slot];
    }
    const Tick tick = machine.tick();
    for (const ProcessInfo& info : tick.born) category[info.key.pid] = info.category;
    std::map<std::string, CategorySample> expected;
    for (const ProcessSample& sample : tick.processes) {
      CategorySample& sum = expected[category.at(sample.key.pid)];
      sum.category = category.at(sample.key.pid);
      sum.processes += 1;
      sum.inexact += sample.source == Source::exact ? 0 : 1;
      sum.rss_kib += sample.memory.or_zero(F::rss);
      sum.pss_kib += sample.memory.or_zero(F::pss);
      sum.uss_kib += sample.memory.or_zero(F::private_clean) + sample.memory.or_zero(F::private_dirty);
      sum.swap_kib += sample.memory.or_zero(F::swap);
      sum.swap_pss_kib += sample.memory.or_zero(F::swap_pss);
    }
    REQUIRE(tick.categories.size() == expected.size());
    for (const CategorySample& sample : tick.categories) CHECK(sample == expected[sample.category]);
    CHECK(tick.counts.seen == std::count(alive.begin(), alive.end(), true));
  }
}

TEST_CASE("a tick has its cost") {
  Machine machine;
  for (std::int32_t pid = 1; pid <= 50; ++pid) machine.proc.add(fake(pid, "app"));
  const Tick tick = machine.tick();
  Cost sum;
  for (const Cost& cost : tick.cost) {
    CHECK(cost.cpu_us >= 0);
    sum.cpu_us += cost.cpu_us;
    sum.wall_us += cost.wall_us;
  }
  CHECK(sum.cpu_us > 0);
  CHECK(sum.cpu_us <= tick.total.cpu_us);
  CHECK(sum.wall_us <= tick.total.wall_us);
}
