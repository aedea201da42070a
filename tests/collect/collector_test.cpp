// The collector on a fake /proc: what is born, what is read of it, and what it adds up to.

#include "collect/collector.h"

#include <map>
#include <unistd.h>

#include "collect/collector_fixture.h"

using namespace memoir;
using namespace memoir::test;

using F = ProcessField;

TEST_CASE("a process is told once, and sampled in every tick") {
  Machine machine;
  FakeProcess app = fake(100, "app", 4096);
  app.parent_pid = 7;
  app.threads = 3;
  app.cgroup = "/system.slice/app.service";
  app.cwd = "/srv";
  app.arguments = {"/usr/bin/app", "--password=hunter2", "x"};
  app.start_ticks = 250;
  machine.proc.add(app);

  const Tick first = machine.tick(true);
  REQUIRE(first.born.size() == 1);
  const ProcessInfo& info = first.born[0];
  CHECK(info.key == ProcessKey{100, 250, 0});
  CHECK(info.start_ms == FakeProc::kBootMs + 2500);
  CHECK(info.parent_pid == 7);
  CHECK(info.user == "root");
  CHECK(info.comm == "app");
  CHECK(info.exe == "/usr/bin/app");
  CHECK(info.command == "/usr/bin/app --password=[redacted] x");
  CHECK(info.cgroup == "/system.slice/app.service");
  CHECK(info.cwd == "/srv");
  CHECK(info.category == "other");
  CHECK(first.keyframe);
  CHECK(first.counts.born == 1);
  CHECK(first.counts.seen == 1);
  CHECK(first.begin.wall_ms == FakeProc::kBootMs + 1'000'000);
  CHECK(first.machine.memory.get(MachineField::mem_total) == 8388608);

  REQUIRE(first.processes.size() == 1);
  const ProcessSample& sample = first.processes[0];
  CHECK(sample.key == info.key);
  CHECK(sample.state == 'S');
  CHECK(sample.parent_pid == 7);
  CHECK(sample.threads == 3);
  CHECK(sample.source == Source::exact);
  CHECK(sample.memory == app.memory);

  app.memory = memory_of(8192);
  machine.proc.update(app);
  const Tick second = machine.tick();
  CHECK(second.born.empty());
  CHECK(second.exits.empty());
  CHECK(second.counts.born == 0);
  REQUIRE(second.processes.size() == 1);
  CHECK(second.processes[0].memory == app.memory);
}

TEST_CASE("births and exits between ticks") {
  Machine machine;
  for (const std::int32_t pid : {30, 10, 20}) machine.proc.add(fake(pid, "app"));
  CHECK(machine.tick().counts.born == 3);
  machine.proc.remove(20);
  machine.proc.add(fake(15, "new"));
  const Tick tick = machine.tick();
  REQUIRE(tick.exits.size() == 1);
  CHECK(tick.exits[0].key == ProcessKey{20, 1020, 0});
  CHECK(tick.exits[0].kind == ExitKind::exited);
  CHECK(tick.counts.exited == 1);
  CHECK(tick.counts.born == 1);
  REQUIRE(tick.processes.size() == 3);
  CHECK(tick.processes[0].key.pid == 10);
  CHECK(tick.processes[1].key.pid == 15);
  CHECK(tick.processes[2].key.pid == 30);
  for (const std::int32_t pid : {10, 15, 30}) machine.proc.remove(pid);
  CHECK(machine.tick().counts.exited == 3);
  CHECK(machine.tick().processes.empty());
}

TEST_CASE("a pid that is reused is another process") {
  for (const std::size_t descriptors : {1000U, 0U}) {
    CollectorOptions options;
    options.max_descriptors = descriptors;
    Machine machine(options);
    machine.proc.add(fake(50, "app"));
    machine.tick();
    FakeProcess other = fake(50, "app");
    other.start_ticks = 9999;
    machine.proc.remove(50);
    machine.proc.add(other);
    const Tick tick = machine.tick();
    REQUIRE(tick.exits.size() == 1);
    CHECK(tick.exits[0].key.start_ticks == 1050);
    CHECK(tick.exits[0].kind == ExitKind::exited);
    CHECK(born_of(tick, 50).key == ProcessKey{50, 9999, 0});
    CHECK(tick.counts.execed == 0);
    CHECK(sample_of(tick, 50).key.start_ticks == 9999);
  }
}

TEST_CASE("a zombie is shown as such, without memory, and keeps its identity") {
  Machine machine;
  const FakeProcess app = fake(60, "app");
  machine.proc.add(app);
  machine.tick();
  machine.proc.become_zombie(app);
  const Tick tick = machine.tick(true);
  CHECK(tick.born.empty());
  CHECK(tick.exits.empty());
  CHECK(tick.counts.zombies == 1);
  CHECK(tick.counts.malformed == 0);
  const ProcessSample& zombie = sample_of(tick, 60);
  CHECK(zombie.state == 'Z');
  CHECK(zombie.source == Source::inaccessible);
  CHECK(zombie.memory == ProcessMemory());
  CHECK(sample_of(machine.tick(), 60).source == Source::inaccessible);
}

TEST_CASE("a zombie that is first seen as one has a name in brackets") {
  Machine machine;
  machine.proc.add(fake(61, "app"));
  machine.proc.become_zombie(fake(61, "app"));
  const Tick tick = machine.tick();
  CHECK(born_of(tick, 61).command == "[app]");
}

TEST_CASE("kernel threads are counted, and become processes when they start a program") {
  Machine machine;
  FakeProcess thread = fake(2, "kthreadd");
  thread.kernel_thread = true;
  thread.memory = {};
  thread.arguments.clear();
  machine.proc.add(thread);
  machine.proc.add(fake(100, "app"));
  for (int i = 0; i < 2; ++i) {
    const Tick tick = machine.tick();
    CHECK(tick.counts.kernel_threads == 1);
    CHECK(tick.counts.seen == 1);
    CHECK(!has_sample(tick, 2));
  }
  FakeProcess helper = fake(2, "modprobe");
  helper.start_ticks = thread.start_ticks;
  machine.proc.exec(helper);
  const Tick tick = machine.tick();
  CHECK(tick.counts.kernel_threads == 0);
  CHECK(tick.counts.born == 1);
  CHECK(tick.exits.empty());
  machine.proc.remove(2);
  CHECK(machine.tick().counts.exited == 1);
}

TEST_CASE("where the rollup is denied, status stands in for it") {
  Machine machine;
  FakeProcess own = fake(100, "app", 4096);
  own.uid = ::geteuid();
  machine.proc.add(own);
  FakeProcess denied = fake(101, "app", 4096);
  denied.uid = 12345;
  machine.proc.add(denied);
  machine.proc.deny(101, PidFile::smaps_rollup);
  {
    const AsOrdinaryUser ordinary;
    const Tick tick = machine.tick();
    CHECK(tick.counts.denied == 1);
    CHECK(sample_of(tick, 100).source == Source::exact);
    const ProcessSample& sample = sample_of(tick, 101);
    CHECK(sample.source == Source::approximate);
    CHECK(sample.memory.get(F::rss) == 4296);
    CHECK(sample.memory.get(F::pss) == 4296);
    CHECK(sample.memory.get(F::pss_anon) == 4096);
    CHECK(sample.memory.get(F::pss_file) == 200);
    CHECK(sample.memory.get(F::swap) == 0);
    CHECK_FALSE(sample.memory.has(F::private_dirty));
    CHECK_FALSE(sample.memory.has(F::swap_pss));
    CHECK(sample.memory.get(F::vm_rss) == 4296);
    CHECK(born_of(tick, 101).user == "12345");
    REQUIRE(tick.categories.size() == 1);
    CHECK(tick.categories[0].inexact == 1);
    CHECK(tick.categories[0].pss_kib == 4196 + 4296);
    CHECK(tick.categories[0].uss_kib == 4096);
  }
  CHECK_FALSE(machine.collector->access().rollup_of_others);
  CHECK(machine.collector->access().note.find("CAP_SYS_PTRACE") != std::string::npos);
}

TEST_CASE("a tree without pressure is recorded without it, and said so") {
  Machine machine;
  machine.proc.remove(SystemFile::pressure_memory);
  machine.proc.add(fake(1, "init"));
  const Tick tick = machine.tick();
  CHECK_FALSE(tick.machine.memory.has(MachineField::psi_some_total));
  CHECK(tick.counts.malformed == 0);
  CHECK_FALSE(machine.collector->access().pressure);
  CHECK(machine.collector->access().rollup_of_others);
  CHECK(machine.collector->access().note.find("pressure") != std::string::npos);
}

TEST_CASE("nothing is missing where nothing is missing") {
  Machine machine;
  machine.proc.add(fake(1, "init"));
  const Tick tick = machine.tick();
  CHECK(tick.machine.memory.get(MachineField::psi_some_total) == 0);
  CHECK(machine.collector->access().pressure);
  CHECK(machine.collector->access().note.empty());
}

TEST_CASE("without meminfo or /proc there is no tick, and the next one goes on") {
  Machine machine;
  machine.proc.add(fake(100, "app"));
  machine.tick();
  machine.proc.write(SystemFile::meminfo, "");
  CHECK_FALSE(machine.collector->collect(false).ok());
  machine.proc.write(SystemFile::meminfo, "MemTotal: 1000 kB\n");
  const Tick tick = machine.tick();
  CHECK(tick.born.empty());
  CHECK(tick.processes.size() == 1);
}

TEST_CASE("garbage in one process's files is counted and ends nothing") {
  Machine machine;
  for (const std::int32_t pid : {10, 11, 12, 13, 14}) machine.proc.add(fake(pid, "app"));
  machine.proc.write(10, PidFile::smaps_rollup, "Rss: garbage\n");
  machine.proc.write(11, PidFile::status, std::string("\0\xff\x01", 3));
  machine.proc.write(12, PidFile::stat, "12 (app");
  machine.proc.write(13, PidFile::cgroup, "no colons");
  const Tick tick = machine.tick();
  CHECK(tick.counts.malformed == 3);
  CHECK(sample_of(tick, 10).source == Source::approximate);
  CHECK(sample_of(tick, 11).source == Source::inaccessible);
  CHECK(!has_sample(tick, 12));  // who it is is not known
  CHECK(born_of(tick, 13).cgroup.empty());
  CHECK(sample_of(tick, 13).source == Source::exact);
  CHECK(sample_of(tick, 14).source == Source::exact);
  // All is well again.
  machine.proc.update(fake(10, "app"));
  machine.proc.update(fake(11, "app"));
  machine.proc.update(fake(12, "app"));
  const Tick mended = machine.tick();
  CHECK(mended.counts.malformed == 0);
  CHECK(mended.counts.born == 1);
  CHECK(sample_of(mended, 10).source == Source::exact);
  CHECK(sample_of(mended, 11).source == Source::exact);
}

TEST_CASE("a process that is listed but gone is counted as vanished") {
  Machine machine;
  machine.proc.add(fake(10, "app"));
  machine.proc.add(fake(11, "app"));
  machine.proc.remove(10, PidFile::stat);
  machine.proc.write(11, PidFile::status, "");
  const Tick tick = machine.tick();
  CHECK(tick.counts.vanished == 2);
  CHECK(tick.counts.seen == 0);
  CHECK(tick.born.empty());
}

TEST_CASE("hostile names and arguments are kept as valid text") {
  Machine machine;
  FakeProcess app = fake(10, "app");
  app.comm = "a\nb\xff) R 1";
  app.arguments = {"line\nbreak", "\x1b[31m", "\xc3("};
  machine.proc.add(app);
  FakeProcess large = fake(11, "large");
  large.arguments = {"large", std::string(131072, 'x')};
  machine.proc.add(large);
  FakeProcess none = fake(12, "none");
  none.arguments.clear();
  machine.proc.add(none);
  const Tick tick = machine.tick();
  CHECK(born_of(tick, 10).comm == "a\nb\\xff) R 1");
  CHECK(born_of(tick, 10).command == "line\nbreak \x1b[31m \\xc3(");
  CHECK(born_of(tick, 11).command.ends_with("…[cut: 131078 bytes]"));
  CHECK(born_of(tick, 11).command.size() < 4200);
  CHECK(born_of(tick, 12).command == "[none]");
  CHECK(machine.tick().born.empty());
}

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
    // More come, and one goes.
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

TEST_CASE("no more descriptors are kept than allowed") {
  const auto open_files = [] {
    std::vector<std::int32_t> numbers;
    REQUIRE(ProcFs("/proc/self/fd").list(numbers).ok());
    return numbers.size();
  };
  const std::size_t before = open_files();
  CollectorOptions options;
  options.max_descriptors = 25;
  Machine machine(options);
  for (std::int32_t pid = 1; pid <= 20; ++pid) machine.proc.add(fake(pid, "app"));
  for (int i = 0; i < 3; ++i) machine.tick();
  constexpr std::size_t kMachineFiles = 3;
  CHECK(open_files() - before == 25 + kMachineFiles);
  for (std::int32_t pid = 1; pid <= 20; ++pid) machine.proc.remove(pid);
  machine.tick();
  CHECK(open_files() - before == kMachineFiles);
}

TEST_CASE("a cgroup is looked up again at keyframes") {
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

TEST_CASE("an earlier run's exec counts go on") {
  Machine machine;
  for (const std::int32_t pid : {10, 11, 12, 13}) machine.proc.add(fake(pid, "app"));
  machine.collector->seed({
      {{10, 1010, 1}, "app", "/usr/bin/app"},
      {{10, 1010, 2}, "app", "/usr/bin/app (deleted)"},
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

TEST_CASE("new rules apply to what lives already") {
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
  redaction.rules = {{"^--pin=(.*)$", "", false, 1}};
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

TEST_CASE("a tick says what it cost") {
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
