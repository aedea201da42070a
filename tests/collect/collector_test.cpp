// The collector on a fake /proc: new processes, their readings, and sums.

#include "collect/collector.h"

#include <fmt/format.h>
#include <unistd.h>

#include "collect/collector_fixture.h"
#include "collect/process/command_reader.h"
#include "collect/process/name_budget.h"

using namespace memoir;
using namespace memoir::test;

using F = ProcessField;

TEST_CASE("Settings of a process are read with its identity, and again with its cgroup") {
  Machine m;
  m.proc.add(fake(10, "app", 1000));
  m.proc.write(10, PidFile::limits, "Max open files  1024  4096  files\nMax processes  -5  1  processes\n");
  m.proc.write(10, PidFile::oom_score_adj, "-500\n");
  const Tick first = m.tick();
  CHECK(born_of(first, 10).settings.limits == "NOFILE=1024:4096");
  CHECK(born_of(first, 10).settings.oom_score_adj == -500);
  CHECK(first.odd_lines.kinds().size() == 1);
  m.proc.write(10, PidFile::oom_score_adj, "200\n");
  CHECK(m.tick().born.empty());
  const Tick later = m.tick(true);
  CHECK(born_of(later, 10).settings.oom_score_adj == 200);
  CHECK(born_of(later, 10).key == born_of(first, 10).key);
}

TEST_CASE("a process is reported once and sampled in every tick") {
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

TEST_CASE("all running processes are reported again after the store has lost its state") {
  Machine machine;
  for (const std::int32_t pid : {10, 20}) machine.proc.add(fake(pid, "app"));
  const Tick first = machine.tick();
  machine.collector->report_all();
  machine.proc.add(fake(30, "new"));
  const Tick second = machine.tick();
  REQUIRE(second.born.size() == 3);
  CHECK(born_of(second, 10) == born_of(first, 10));
  CHECK(born_of(second, 20) == born_of(first, 20));
  CHECK(second.counts.born == 1);
  CHECK(machine.tick().born.empty());
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

TEST_CASE("a process first sampled as a zombie has a name in brackets") {
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

TEST_CASE("status replaces a denied rollup") {
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
  CHECK(machine.collector->access().note.find("CAP_SYS_PTRACE") != std::string::npos);
}

TEST_CASE("a denied rollup is read again at a keyframe, or after a possible exec") {
  Machine machine;
  FakeProcess denied = fake(101, "app", 4096);
  denied.uid = 12345;
  machine.proc.add(denied);
  machine.proc.deny(101, PidFile::smaps_rollup);
  {
    const AsOrdinaryUser ordinary;
    CHECK(machine.tick().counts.denied == 1);
  }
  // The read is permitted from now on, but no event reports that.
  machine.proc.update(denied);
  const Tick unaware = machine.tick();
  CHECK(unaware.counts.denied == 1);
  CHECK(sample_of(unaware, 101).source == Source::approximate);
  SECTION("keyframe") {
    const Tick tick = machine.tick(true);
    CHECK(tick.counts.denied == 0);
    CHECK(sample_of(tick, 101).source == Source::exact);
  }
  SECTION("another user") {
    denied.uid = ::geteuid();
    machine.proc.update(denied);
    CHECK(sample_of(machine.tick(), 101).source == Source::exact);
  }
  SECTION("another name") {
    denied.comm = "renamed";
    machine.proc.update(denied);
    CHECK(sample_of(machine.tick(), 101).source == Source::exact);
  }
  CHECK(sample_of(machine.tick(), 101).source == Source::exact);
}

TEST_CASE("a tree without pressure is recorded without it, with a note") {
  Machine machine;
  machine.proc.remove(SystemFile::pressure_memory);
  machine.proc.add(fake(1, "init"));
  const Tick tick = machine.tick();
  CHECK_FALSE(tick.machine.memory.has(MachineField::psi_some_total));
  CHECK(tick.counts.malformed == 0);
  CHECK(machine.collector->access().note.find("CAP_SYS_PTRACE") == std::string::npos);
  CHECK(machine.collector->access().note.find("pressure") != std::string::npos);
}

TEST_CASE("on a machine with all files there is no degraded mode") {
  Machine machine;
  machine.proc.add(fake(1, "init"));
  const Tick tick = machine.tick();
  CHECK(tick.machine.memory.get(MachineField::psi_some_total) == 0);
  CHECK(machine.collector->access().note.empty());
}

TEST_CASE("without meminfo the machine's memory is unknown, and all else is known") {
  Machine machine;
  machine.proc.add(fake(100, "app"));
  machine.tick();
  for (const std::string text : {"", "junk\n"}) {
    machine.proc.write(SystemFile::meminfo, text);
    const Tick odd = machine.tick();
    CHECK_FALSE(odd.machine.memory.has(MachineField::mem_total));
    CHECK(odd.machine.memory.has(MachineField::pgfault));
    CHECK(odd.processes.size() == 1);
    CHECK(odd.counts.malformed == 1);
    machine.proc.write(SystemFile::meminfo, "MemTotal: 1000 kB\n");
    const Tick tick = machine.tick();
    CHECK(tick.born.empty());
    CHECK(tick.processes.size() == 1);
    CHECK(tick.machine.memory.get(MachineField::mem_total) == 1000);
    CHECK(tick.counts.malformed == 0);
  }
  Machine without;
  without.proc.remove(SystemFile::meminfo);
  CHECK(without.tick().counts.malformed == 1);
}

TEST_CASE("free pages on the per-CPU lists are read at each tick") {
  Machine machine;
  CHECK_FALSE(machine.tick().machine.memory.has(MachineField::per_cpu_free));
  const std::int64_t page_kib = ::sysconf(_SC_PAGESIZE) / 1024;
  machine.proc.write(SystemFile::zoneinfo, "Node 0, zone DMA32\n  pagesets\n    cpu: 0\n  count: 5\n  high: 9\n");
  CHECK(machine.tick().machine.memory.get(MachineField::per_cpu_free) == 5 * page_kib);
  machine.proc.write(SystemFile::zoneinfo,
                     "Node 0, zone DMA32\n  pagesets\n    cpu: 0\n  count: 7\n    cpu: 1\n  count: 1\n");
  const Tick tick = machine.tick();
  CHECK(tick.machine.memory.get(MachineField::per_cpu_free) == 8 * page_kib);
  CHECK(tick.counts.malformed == 0);
}

TEST_CASE("garbage in a process's files is counted and does not stop the tick") {
  Machine machine;
  for (const std::int32_t pid : {10, 11, 12, 13, 14}) machine.proc.add(fake(pid, "app"));
  machine.proc.write(10, PidFile::smaps_rollup, "Rss: garbage\n");
  machine.proc.write(11, PidFile::status, std::string("\0\xff\x01", 3));
  machine.proc.write(12, PidFile::stat, "12 (app");
  machine.proc.write(13, PidFile::cgroup, "no colons");
  const Tick tick = machine.tick();
  CHECK(tick.counts.malformed == 5);
  CHECK(sample_of(tick, 10).source == Source::approximate);
  CHECK(sample_of(tick, 11).source == Source::inaccessible);
  CHECK(!has_sample(tick, 12));  // its identity is unknown
  CHECK(born_of(tick, 13).cgroup.empty());
  CHECK(sample_of(tick, 13).source == Source::exact);
  CHECK(sample_of(tick, 14).source == Source::exact);
  // The files are valid again.
  machine.proc.update(fake(10, "app"));
  machine.proc.update(fake(11, "app"));
  machine.proc.update(fake(12, "app"));
  const Tick fixed = machine.tick();
  CHECK(fixed.counts.malformed == 0);
  CHECK(fixed.counts.born == 1);
  CHECK(sample_of(fixed, 10).source == Source::exact);
  CHECK(sample_of(fixed, 11).source == Source::exact);
}

TEST_CASE("a process that is listed but has exited is counted as vanished") {
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

TEST_CASE("command lines that take long to redact use up only their own user's CPU time") {
  constexpr std::uint32_t kAttacker = 4242;
  RedactionOptions rules;
  // The automaton would need too many states, so each rule falls back to a slower search.
  for (int i = 0; i < 60; ++i) rules.rules.push_back({"[a-d][^u-w]{13}y", "", false, "", 1});
  Machine machine;
  machine.collector->set_rules(*Categoriser::make({}), *Redactor::make(rules));
  std::string slow;
  for (std::uint32_t i = 1; slow.size() < 100'000; i = i * 1664525 + 1013904223) slow += "abcdefgx"[i >> 29];
  for (std::int32_t pid = 100; pid < 110; ++pid) {
    FakeProcess flood = fake(pid, "flood");
    flood.uid = kAttacker;
    flood.arguments = {"flood", slow};
    machine.proc.add(flood);
  }
  for (std::int32_t pid = 200; pid < 210; ++pid) machine.proc.add(fake(pid, "other"));
  std::vector<Event> events;
  int ticks = 0;
  for (bool all_read = false; !all_read && ticks < 1000; ++ticks) {
    const Tick tick = machine.tick();
    if (ticks == 0) {
      for (std::int32_t pid = 200; pid < 210; ++pid) CHECK(born_of(tick, pid).command == "/usr/bin/other");
      CHECK_FALSE(born_of(tick, 109).command.starts_with("flood "));
      CHECK(tick.counts.blocked > 0);
    }
    all_read = tick.counts.blocked == 0;
    events.insert(events.end(), machine.collector->events().begin(), machine.collector->events().end());
  }
  CHECK(ticks > 3);
  REQUIRE(!events.empty());
  CHECK_THAT(events[0].text, ContainsSubstring("uid 4242"));
}

TEST_CASE("a user's command lines are read up to a limit in a tick, the others in later ones") {
  constexpr std::int32_t kFlood = 40;
  Machine machine;
  for (std::int32_t pid = 100; pid < 100 + kFlood; ++pid) {
    FakeProcess flood = fake(pid, "flood");
    flood.uid = 4242;
    flood.arguments = {"flood", std::string(200'000, 'x')};
    machine.proc.add(flood);
  }
  machine.proc.add(fake(900, "other"));
  const auto not_read = [&](const Tick& tick) {
    return std::count_if(tick.born.begin(), tick.born.end(), [](const ProcessInfo& info) {
      return info.command == std::string("/usr/bin/flood") + kCommandNotRead;
    });
  };
  const Tick first = machine.tick();
  CHECK(born_of(first, 900).command == "/usr/bin/other");
  // 68 KiB of each process are read, so 16 processes exceed 1 MiB.
  CHECK(not_read(first) == kFlood - 16);
  CHECK(not_read(machine.tick()) == 0);
  const Tick third = machine.tick();
  CHECK(third.born.size() == kFlood - 32);
  CHECK(born_of(third, 139).command.starts_with("flood xxx"));
  CHECK(machine.tick().born.empty());

  // New names cause new reads within the same budget; the old command lines stay until then.
  for (std::int32_t pid = 100; pid < 100 + kFlood; ++pid) {
    FakeProcess flood = fake(pid, "renamed");
    flood.uid = 4242;
    flood.exe = "/usr/bin/flood";
    flood.arguments = {"renamed", std::string(200'000, 'y')};
    machine.proc.update(flood);
  }
  FakeProcess late = fake(200, "late");
  late.uid = 4242;
  machine.proc.add(late);
  const Tick renamed = machine.tick();
  CHECK(born_of(renamed, 200).command == "/usr/bin/late");
  CHECK(renamed.counts.execed == 0);
  CHECK(born_of(renamed, 100).command.starts_with("renamed yyy"));
  CHECK(born_of(renamed, 139).command.starts_with("flood xxx"));
}

TEST_CASE("unread command lines cause few repeated reads of other files, even if the processes are renamed") {
  constexpr std::int32_t kFlood = 600;
  CollectorOptions options = many_descriptors();
  options.store_bytes = 1;  // room for about 120 names per user; the others become "other of USER"
  Machine machine(options);
  for (std::int32_t pid = 1000; pid < 1000 + kFlood; ++pid) {
    FakeProcess flood = fake(pid, fmt::format("flood{}", pid));
    flood.uid = 4242;
    flood.arguments = {flood.exe, std::string(70'000, 'x')};
    machine.proc.add(flood);
  }
  const Tick first = machine.tick();
  const auto cut = [](const ProcessInfo& info) { return info.command.ends_with(kCommandLeftOut); };
  CHECK(std::ranges::count_if(first.born, cut) > 300);
  for (std::int32_t pid = 1000; pid < 1000 + kFlood; ++pid) machine.proc.write(pid, PidFile::oom_score_adj, "7\n");
  const Tick second = machine.tick();
  const auto again =
      std::ranges::count_if(second.born, [](const ProcessInfo& info) { return info.settings.oom_score_adj == 7; });
  CHECK(again >= 16);
  CHECK(again <= 300);
}

TEST_CASE("hostile names and arguments are stored as valid text") {
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
  CHECK(born_of(tick, 11).command.ends_with("…[cut: over 69632 bytes]"));
  CHECK(born_of(tick, 11).command.size() < 4200);
  CHECK(born_of(tick, 12).command == "[none]");
  CHECK(machine.tick().born.empty());
}
