// Detection of an exec from the files of a process.

#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <tuple>

#include "collect/collector_fixture.h"
#include "collect/process/name_budget.h"

using namespace memoir;
using namespace memoir::test;

using F = ProcessField;

namespace {

// Changes the status of a process in place, so that cached descriptors read the new text, and takes a tick.
Tick after_update(Machine& machine, const FakeProcess& now, const std::string& exe = {}) {
  machine.proc.update(now);
  if (!exe.empty()) {
    const std::string link = machine.proc.root() + '/' + std::to_string(now.pid) + "/exe";
    std::filesystem::remove(link);
    std::filesystem::create_symlink(exe, link);
  }
  return machine.tick();
}

void check_exec(const Tick& tick, std::int32_t pid, std::uint32_t count) {
  CHECK(tick.counts.execed == 1);
  CHECK(tick.counts.born == 0);
  CHECK(tick.counts.exited == 0);
  REQUIRE(tick.exits.size() == 1);
  CHECK(tick.exits[0].kind == ExitKind::execed);
  CHECK(tick.exits[0].key.exec_count == count - 1);
  CHECK(born_of(tick, pid).key.exec_count == count);
  CHECK(sample_of(tick, pid).key.exec_count == count);
  CHECK(sample_of(tick, pid).source == Source::exact);
}

void check_no_exec(const Tick& tick, std::int32_t pid) {
  CHECK(tick.counts.execed == 0);
  CHECK(tick.exits.empty());
  CHECK(sample_of(tick, pid).key.exec_count == 0);
}

}  // namespace

TEST_CASE("a user's names are stored up to a budget, even if they are short; the excess is one entry for that user") {
  NameBudget names(16 << 20);
  ProcessInfo info;
  info.uid = 1000;
  info.user = "mallory";
  std::set<std::string> commands;
  std::set<std::string> cgroups;
  for (int i = 0; i < 20'000; ++i) {
    info.exe = "/" + std::to_string(i);
    info.comm = std::to_string(i);
    info.command = info.exe;
    info.cgroup = "/user.slice/" + std::to_string(i % 500);
    names.fit(info, {}, 0);
    commands.insert(info.command);
    cgroups.insert(info.cgroup);
  }
  // The budget is 128 KiB, and each name costs more than 1 KiB.
  CHECK(commands.size() + cgroups.size() < 130);
  CHECK(commands.contains(std::string("[other of mallory]") + kCommandLeftOut));
  CHECK(cgroups.contains("/…"));
  info.uid = 1001;
  info.exe = info.command = "/usr/bin/other";
  CHECK(names.fit(info, {}, 0));
}

TEST_CASE("known commands in known cgroups, and known settings in new combinations, are charged as new rows") {
  NameBudget names(16 << 20);
  ProcessInfo info;
  info.uid = 1000;
  info.user = "mallory";
  std::set<std::tuple<std::string, std::string, std::string>> identities;
  std::set<std::pair<std::string, std::optional<std::int64_t>>> settings;
  for (int i = 0; i < 40'000; ++i) {
    const char letter = static_cast<char>('a' + i % 20);
    info.exe = info.command = fmt::format("/bin/{}", letter);
    info.cgroup = fmt::format("/{}.service", static_cast<char>('a' + i / 20 % 20));
    info.settings = {"/", i % 1000, fmt::format("NOFILE={}:4096", i % 20), ""};
    ProcessInfo fitted = info;
    names.fit(fitted, {}, 0);
    const Identity identity = identity_of(fitted);
    identities.emplace(identity.unit, identity.exe, identity.command);
    if (!fitted.settings.limits.empty()) settings.emplace(fitted.settings.limits, fitted.settings.oom_score_adj);
    CHECK(fitted.settings.oom_score_adj == info.settings.oom_score_adj);
  }
  // The budget is 128 KiB. An identity costs more than 1 KiB, and settings cost more than 96 bytes.
  CHECK(identities.size() + settings.size() / 10 < 160);
}

TEST_CASE("a long path of a folder costs its size in the file only once") {
  NameBudget names(16 << 20);
  ProcessInfo info;
  info.uid = 1000;
  const auto stored_whole = [&](bool same_folder) {
    int whole = 0;
    for (int i = 0; i < 200; ++i) {
      info.exe = "/bin/true";
      info.command = fmt::format("true {} {}", i, same_folder);
      info.cwd = std::string(3800, 'x') + (same_folder ? "" : std::to_string(i));
      whole += names.fit(info, {}, 0) ? 1 : 0;
    }
    return whole;
  };
  CHECK(stored_whole(false) < 20);
  names = NameBudget(16 << 20);
  CHECK(stored_whole(true) > 80);
}

TEST_CASE("a rollup that stops answering while the process runs proves an exec") {
  Machine machine;
  FakeProcess shell = fake(10, "sh");
  machine.proc.add(shell);
  machine.tick();
  FakeProcess app = fake(10, "app", 5000);
  app.parent_pid = 3;
  machine.proc.exec(app);
  const Tick tick = machine.tick();
  check_exec(tick, 10, 1);
  CHECK(born_of(tick, 10).comm == "app");
  CHECK(born_of(tick, 10).exe == "/usr/bin/app");
  CHECK(born_of(tick, 10).command == "/usr/bin/app");
  CHECK(born_of(tick, 10).parent_pid == 3);
  CHECK(sample_of(tick, 10).memory == app.memory);
  // The process executes the same program again; nothing else changes.
  machine.proc.exec(app);
  check_exec(machine.tick(), 10, 2);
  // On a busy machine a read may be late, so that its result appears in the next tick.
  Tick quiet = machine.tick();
  for (int i = 0; i < 5 && !quiet.born.empty(); ++i) quiet = machine.tick();
  CHECK(quiet.born.empty());
  CHECK(sample_of(quiet, 10).key.exec_count == 2);
}

TEST_CASE("a restart gives no user a new budget, and stored names cost nothing") {
  constexpr std::int64_t day_ms = 86'400'000;
  constexpr std::int64_t now_ms = 3'600'000;  // an hour after the boot
  const auto name = [](int i) {
    return KnownName{1000, "/" + std::to_string(i), std::to_string(i), "/", "/user.slice", 0};
  };
  const auto info_of = [](const KnownName& of) {
    ProcessInfo info;
    info.uid = of.uid;
    info.exe = of.exe;
    info.command = of.command;
    info.cwd = of.cwd;
    info.cgroup = of.cgroup;
    return info;
  };
  const auto fitting = [&](NameBudget& names) {
    int fit = 0;
    for (int i = 100'000; i < 120'000; ++i) {
      ProcessInfo info = info_of(name(i));
      if (names.fit(info, {}, now_ms)) ++fit;
    }
    return fit;
  };
  NameBudget fresh(256 << 20);
  const int all = fitting(fresh);
  REQUIRE(all > 100);
  NameBudget restarted(256 << 20);
  for (int i = 0; i < all; ++i) restarted.seed(name(i), now_ms - day_ms / 2);
  for (int i = 0; i < all; ++i) {
    ProcessInfo info = info_of(name(i));
    CHECK(restarted.fit(info, {}, now_ms));
  }
  // Half a day has restored half of the budget.
  const int left = fitting(restarted);
  CHECK(left > all * 4 / 10);
  CHECK(left < all * 6 / 10);
}

TEST_CASE("a user that runs unique command lines uses up only its own budget") {
  CollectorOptions options = many_descriptors();
  options.store_bytes = 16 << 20;  // 128 KiB per user
  Machine machine(options);
  FakeProcess flood = fake(10, "flood");
  flood.uid = 1000;
  machine.proc.add(flood);
  machine.tick();
  std::size_t whole = 0;
  Tick tick;
  for (char round = 0; round < 40; ++round) {
    flood.arguments = {"/usr/bin/flood", std::string(4000, 'x'), std::to_string(round)};
    machine.proc.exec(flood);
    tick = machine.tick();
    if (born_of(tick, 10).command.size() > 4000) ++whole;
  }
  CHECK(whole >= 20);
  CHECK(whole <= 26);
  CHECK(born_of(tick, 10).command == std::string("/usr/bin/flood") + kCommandLeftOut);
  // After the budget is used up, all images of the process share one entry.
  CHECK(tick.exits.empty());
  CHECK(tick.counts.execed == 1);
  CHECK(sample_of(tick, 10).key.exec_count == whole);

  FakeProcess other = fake(11, "other");
  other.uid = 1001;
  other.arguments = {"/usr/bin/other", std::string(3000, 'y')};
  machine.proc.add(other);
  CHECK(born_of(machine.tick(), 11).command.size() > 3000);
  // A day later the budget is restored.
  machine.clock.advance(86'400'000);
  flood.arguments.back() = "next day";
  machine.proc.exec(flood);
  CHECK(born_of(machine.tick(), 10).command.size() > 4000);
}

TEST_CASE("a user's budget for unique command lines grows with the size of the store") {
  CollectorOptions options = many_descriptors();
  options.store_bytes = 16 << 20;
  Machine machine(options);
  FakeProcess flood = fake(10, "flood");
  flood.uid = 1000;
  machine.proc.add(flood);
  machine.tick();
  int line = 0;
  const auto whole_of = [&](int rounds) {
    int whole = 0;
    for (int round = 0; round < rounds; ++round) {
      flood.arguments = {"/usr/bin/flood", std::string(4000, 'x'), std::to_string(++line)};
      machine.proc.exec(flood);
      if (born_of(machine.tick(), 10).command.size() > 4000) ++whole;
    }
    return whole;
  };
  const int whole = whole_of(40);  // fewer than 128 KiB / 4000 bytes, because a command line has other costs as well
  CHECK(whole >= 20);
  CHECK(whole <= 26);
  machine.collector->set_store_bytes(32 << 20);
  CHECK(whole_of(10) == 10);
  machine.collector->set_store_bytes(16 << 20);
  CHECK(whole_of(3) == 0);
}

TEST_CASE("a rollup that stays unreadable is an exit in progress, not an exec") {
  Machine machine;
  machine.proc.add(fake(10, "app"));
  machine.tick();
  machine.proc.remove(10, PidFile::smaps_rollup);
  const Tick tick = machine.tick();
  check_no_exec(tick, 10);
  CHECK(sample_of(tick, 10).source == Source::held);
}

TEST_CASE("without a cached rollup, another executable under another name is an exec") {
  CollectorOptions options;
  options.max_descriptors = 0;
  Machine machine(options);
  machine.proc.add(fake(10, "sh"));
  machine.tick();
  machine.proc.exec(fake(10, "app"));
  check_exec(machine.tick(), 10, 1);
}

TEST_CASE("a descriptor that was opened during vfork stays readable, and a suspected exec reopens it") {
  Machine machine;
  FakeProcess child = fake(10, "sh", 100'000);
  machine.proc.add(child);
  machine.tick();
  // The old descriptor still reads the parent's memory, but the path leads to the child's own.
  const std::string rollup = machine.proc.proc().path(10, PidFile::smaps_rollup);
  std::filesystem::rename(rollup, rollup + ".parent");
  FakeProcess app = fake(10, "app", 500);
  const Tick tick = after_update(machine, app, "/usr/bin/app");
  check_exec(tick, 10, 1);
  CHECK(sample_of(tick, 10).memory.get(F::private_dirty) == 500);
}

TEST_CASE("VmPeak that fell is an exec, even into the same executable") {
  CollectorOptions options;
  options.max_descriptors = 0;
  Machine machine(options);
  machine.proc.add(fake(10, "app", 9000));
  machine.tick();
  check_exec(after_update(machine, fake(10, "app", 1000)), 10, 1);
}

TEST_CASE("a different code size causes a read of exe") {
  Machine machine;
  FakeProcess app = fake(10, "app");
  app.memory.set(F::vm_exe, 100);
  machine.proc.add(app);
  machine.tick();
  app.memory.set(F::vm_exe, 200);
  SECTION("the same executable: no exec") {
    const Tick tick = after_update(machine, app);
    check_no_exec(tick, 10);
    CHECK(tick.born.empty());
  }
  SECTION("replaced on disk by an upgrade: no exec") {
    const Tick tick = after_update(machine, app, "/usr/bin/app (deleted)");
    check_no_exec(tick, 10);
    CHECK(tick.born.empty());
  }
  SECTION("another executable: an exec") {
    check_exec(after_update(machine, app, "/usr/bin/other"), 10, 1);
  }
}

TEST_CASE("an executable replaced on disk before its first sample counts as the same") {
  CollectorOptions options;
  options.max_descriptors = 0;
  Machine machine(options);
  FakeProcess app = fake(10, "app");
  app.exe = "/usr/bin/app (deleted)";
  machine.proc.add(app);
  CategoryRule rule;
  rule.name = "mine";
  rule.exe = "^/usr/bin/app$";
  machine.collector->set_rules(*Categoriser::make({rule}), *Redactor::make({}));
  const Tick first = machine.tick();
  CHECK(born_of(first, 10).exe == "/usr/bin/app");
  CHECK(born_of(first, 10).category == "mine");
  app.comm = "renamed";
  SECTION("still replaced") {
    check_no_exec(after_update(machine, app), 10);
  }
  SECTION("put back") {
    check_no_exec(after_update(machine, app, "/usr/bin/app"), 10);
  }
}

TEST_CASE("a new name alone is no exec, but is recorded") {
  Machine machine;
  FakeProcess app = fake(10, "app");
  machine.proc.add(app);
  machine.tick();
  app.comm = "renamed";
  const Tick tick = after_update(machine, app);
  check_no_exec(tick, 10);
  REQUIRE(tick.born.size() == 1);
  CHECK(tick.born[0].comm == "renamed");
  CHECK(tick.counts.born == 0);
  CHECK(machine.tick().born.empty());
}

TEST_CASE("a new title alone is no exec") {
  Machine machine;
  FakeProcess app = fake(10, "app");
  machine.proc.add(app);
  machine.tick();
  app.arguments = {"app: busy"};
  const Tick tick = after_update(machine, app);
  check_no_exec(tick, 10);
  CHECK(tick.born.empty());
}

TEST_CASE("without a readable exe, a new name with a new command is an exec") {
  CollectorOptions options;
  options.max_descriptors = 0;
  Machine machine(options);
  FakeProcess app = fake(10, "app");
  app.exe.clear();
  machine.proc.add(app);
  machine.tick();
  app.comm = "other";
  SECTION("the name alone is no exec") {
    check_no_exec(after_update(machine, app), 10);
  }
  SECTION("a new name and a new command are") {
    app.arguments = {"other", "-x"};
    check_exec(after_update(machine, app), 10, 1);
  }
}

TEST_CASE("a process that changes its user is reported again under the same key") {
  Machine machine;
  FakeProcess app = fake(10, "app");
  machine.proc.add(app);
  CHECK(born_of(machine.tick(), 10).user == "root");
  app.uid = 54321;
  const Tick tick = after_update(machine, app);
  check_no_exec(tick, 10);
  REQUIRE(tick.born.size() == 1);
  CHECK(tick.born[0].uid == 54321);
  CHECK(tick.born[0].user == "54321");
}

namespace {

// Takes a tick during which process 11 becomes another process, between the reads of its status and its rollup. This
// needs the rollups to be read in pid order, because the rollup of 10 waits for the change. After a slow read in the
// previous tick the order may differ; then nothing is changed, and the result is nullopt.
std::optional<Tick> tick_of_change(Machine& machine) {
  for (const std::int32_t pid : {9, 10, 11}) machine.proc.add(fake(pid, "old"));
  machine.tick();
  machine.proc.block(9, PidFile::smaps_rollup);
  machine.proc.block(10, PidFile::smaps_rollup);
  bool in_order = true;
  std::thread other([&proc = machine.proc, &in_order] {
    while (!proc.unblock(9, PidFile::smaps_rollup)) {
      if (in_order && proc.unblock(10, PidFile::smaps_rollup)) in_order = false;
      std::this_thread::yield();
    }
    if (!in_order) return;
    proc.remove(11);
    FakeProcess next = fake(11, "new");
    next.start_ticks = 5000;
    proc.add(next);
    while (!proc.unblock(10, PidFile::smaps_rollup)) std::this_thread::yield();
  });
  Tick tick = machine.tick();
  other.join();
  return in_order && !tick.exits.empty() ? std::optional(std::move(tick)) : std::nullopt;
}

}  // namespace

TEST_CASE("a process is reported as exited if its pid was reused during its rollup") {
  CollectorOptions options = many_descriptors();
  options.read_deadline = std::chrono::minutes(1);
  std::unique_ptr<Machine> machine;
  std::optional<Tick> tick;
  for (int i = 0; i < 100 && !tick; ++i) {
    machine = std::make_unique<Machine>(options);
    tick = tick_of_change(*machine);
  }
  REQUIRE(tick);
  REQUIRE(tick->exits.size() == 1);
  CHECK(tick->exits[0] == ProcessExit{{11, 1011, 0}, ExitKind::exited});
  CHECK(tick->counts.exited == 1);
  CHECK(tick->counts.vanished == 1);
  CHECK_FALSE(has_sample(*tick, 11));
  CHECK(born_of(machine->tick(), 11).key == ProcessKey{11, 5000, 0});
}
