// What cgroups may hold and hold, in the ticks of a collector on a fake /proc and a fake /sys/fs/cgroup.

#include <filesystem>
#include <fmt/format.h>
#include <fstream>

#include "base/file.h"
#include "collect/collector_fixture.h"

using namespace memoir;
using namespace memoir::test;

namespace {

namespace fs = std::filesystem;

struct CgroupMachine {
  explicit CgroupMachine(CollectorOptions options = many_descriptors())
      : machine((options.cgroup_root = cgroups.path(), options)) {}

  TemporaryDirectory cgroups;
  Machine machine;

  void put(const std::string& path, const std::string& file, std::string_view text) const {
    const std::string folder = cgroups.path() + path;
    fs::create_directories(folder);
    // In place, as the kernel does: an open descriptor sees it.
    std::ofstream(fmt::format("{}/memory.{}", folder, file)) << text;
  }
  void limit(const std::string& path, std::string_view max, std::string_view current) const {
    put(path, "max", max);
    put(path, "current", current);
  }
  void add(std::int32_t pid, const std::string& cgroup) {
    FakeProcess process = fake(pid, "app");
    process.cgroup = cgroup;
    machine.proc.add(process);
  }
};

std::vector<std::string> paths_of(const Tick& tick) {
  std::vector<std::string> paths;
  for (const CgroupSample& sample : tick.cgroups) paths.push_back(sample.path);
  return paths;
}

using Paths = std::vector<std::string>;

}  // namespace

TEST_CASE("a process's cgroup and those above it are told with their limits, page cache and swap") {
  CgroupMachine m;
  m.limit("/a.slice", "1073741824\n", "8388608\n");
  m.limit("/a.slice/b.service", "max\n", "4194304\n");
  m.put("/a.slice/b.service", "high", "536870912\n");
  m.put("/a.slice/b.service", "stat", "anon 1\ninactive_file 1048576\nactive_file 1048576\n");
  m.put("/a.slice/b.service", "swap.current", "2048\n");
  m.put("/a.slice/b.service", "swap.max", "65536\n");
  m.limit("/other", "1\n", "1\n");
  m.add(10, "/a.slice/b.service");
  m.add(11, "/a.slice/b.service");
  const Tick tick = m.machine.tick();
  REQUIRE(tick.cgroups.size() == 2);
  CHECK(tick.cgroups[0] == CgroupSample{"/a.slice", 8192, {}, {}, 1048576, {}, {}});
  CHECK(tick.cgroups[1] == CgroupSample{"/a.slice/b.service", 4096, 2048, 2, {}, 524288, 64});
  CHECK(tick.counts.malformed == 0);
}

TEST_CASE("what cgroups hold and may hold is that of the tick") {
  CgroupMachine m;
  const auto a = [](const Tick& tick) { return tick.cgroups.front(); };
  m.limit("/a", "max\n", "4096\n");
  m.put("/a", "stat", "active_file 0\ninactive_file 1024\n");
  m.put("/a", "swap.current", "0\n");
  m.add(10, "/a");
  CHECK(a(m.machine.tick()) == CgroupSample{"/a", 4, 1, 0, {}, {}, {}});
  m.limit("/a", "16384\n", "8192\n");
  m.put("/a", "stat", "active_file 2048\ninactive_file 1024\n");
  m.put("/a", "swap.current", "4096\n");
  m.put("/a", "swap.max", "65536\n");
  m.put("/a", "high", "12288\n");
  m.limit("/b", "max\n", "1024\n");
  m.add(11, "/b");
  const Tick next = m.machine.tick();
  CHECK(paths_of(next) == Paths{"/a", "/b"});
  // Files that were not there are looked for again later.
  CHECK(a(next) == CgroupSample{"/a", 8, 3, 4, 16, {}, {}});
  CHECK(a(m.machine.tick(true)) == CgroupSample{"/a", 8, 3, 4, 16, 12, 64});
  // At a limit page cache gives way, and the sum stays.
  m.put("/a", "stat", "active_file 0\ninactive_file 1024\n");
  CHECK(a(m.machine.tick()).file_kib == 1);
}

TEST_CASE("a cgroup without a process is forgotten after five minutes, one that is gone at once") {
  CgroupMachine m;
  for (const char* path : {"/a", "/b", "/c"}) m.limit(path, "max\n", "4096\n");
  for (std::int32_t pid = 10; const char* path : {"/a", "/b", "/c"}) m.add(pid++, path);
  CHECK(paths_of(m.machine.tick()) == Paths{"/a", "/b", "/c"});
  m.machine.proc.remove(11);
  m.machine.proc.remove(12);
  m.limit("/c", "", "");  // a descriptor of a cgroup that is gone has nothing to say
  fs::remove_all(m.cgroups.path() + "/c");
  CHECK(paths_of(m.machine.tick()) == Paths{"/a", "/b"});
  m.limit("/c", "max\n", "8192\n");
  m.add(12, "/c");
  const Tick again = m.machine.tick();
  CHECK(paths_of(again) == Paths{"/a", "/b", "/c"});
  CHECK(again.cgroups.back().current_kib == 8);
  m.machine.clock.advance(299'000);
  CHECK(paths_of(m.machine.tick()) == Paths{"/a", "/c"});
}

TEST_CASE("cgroups are read without a descriptor to spare") {
  CollectorOptions options;
  options.max_descriptors = 1;
  CgroupMachine m(options);
  m.limit("/a", "max\n", "4096\n");
  m.add(10, "/a");
  CHECK(m.machine.tick().cgroups.front().current_kib == 4);
  m.limit("/a", "max\n", "8192\n");
  CHECK(m.machine.tick().cgroups.front().current_kib == 8);
}

TEST_CASE("a cgroup whose files are missing, denied, empty, torn or huge ends nothing") {
  CgroupMachine m;
  m.limit("/empty", "", "4096\n");
  m.limit("/torn", "40", "4096\n");
  m.limit("/huge", "99999999999999999999\n", "4096\n");
  m.limit("/no-current", "max\n", "x\n");
  m.limit("/good", "max\n", "4096\n");
  m.put("/good", "stat", "rubbish\n");
  m.limit("/denied", "max\n", "4096\n");
  fs::permissions(m.cgroups.path() + "/denied/memory.max", fs::perms::none);
  fs::permissions(m.cgroups.path(), fs::perms(0755));
  for (std::int32_t pid = 10; const char* path : {"/missing", "/empty", "/torn", "/huge", "/no-current", "/good"}) {
    m.add(pid++, path);
  }
  m.add(20, "/denied");
  m.add(21, "/../outside");
  const AsOrdinaryUser ordinary;
  const Tick tick = m.machine.tick();
  CHECK(tick.counts.seen == 8);
  CHECK(paths_of(tick) == Paths{"/good"});
  CHECK_FALSE(tick.cgroups.front().file_kib);
  CHECK(tick.counts.malformed == 4);
}

TEST_CASE("a tree without the memory controller has no cgroups") {
  CgroupMachine m;
  m.add(10, "/a");
  CHECK(m.machine.tick().cgroups.empty());
}

namespace {

using Kills = std::vector<OomKills>;

// The machine's counter.
void count_kills(CgroupMachine& m, int kills) {
  m.machine.proc.write(SystemFile::vmstat, fmt::format("oom_kill {}\n", kills));
}

std::string events(int kills) {
  return fmt::format("low 0\noom {0}\noom_kill {0}\n", kills);
}

}  // namespace

TEST_CASE("an OOM kill is told of the lowest cgroup that counts it, and of what was before nothing") {
  CgroupMachine m;
  count_kills(m, 5);
  for (const char* path : {"/a", "/a/b", "/a/b/c"}) m.limit(path, "max\n", "4096\n");
  for (const char* path : {"/a", "/a/b", "/a/b/c"}) m.put(path, "events", events(3));
  m.add(10, "/a/b/c");
  CHECK(m.machine.tick().oom_kills.empty());
  CHECK(m.machine.tick().oom_kills.empty());

  count_kills(m, 6);
  for (const char* path : {"/a", "/a/b", "/a/b/c"}) m.put(path, "events", events(4));
  CHECK(m.machine.tick().oom_kills == Kills{{"/a/b/c", 1}});
  CHECK(m.machine.tick().oom_kills.empty());

  // Two in /a/b itself, or in one below it that is gone; one in a cgroup that nobody knew.
  count_kills(m, 9);
  for (const char* path : {"/a", "/a/b"}) m.put(path, "events", events(6));
  m.limit("/new", "max\n", "4096\n");
  m.put("/new", "events", events(1));
  m.add(11, "/new");
  CHECK(m.machine.tick().oom_kills == Kills{{"/a/b", 2}});
  count_kills(m, 10);
  m.put("/new", "events", events(2));
  CHECK(m.machine.tick().oom_kills == Kills{{"/new", 1}});
}

TEST_CASE("OOM kills of v1: each cgroup counts its own") {
  CgroupMachine m;
  const auto put = [&](const std::string& path, int kills) {
    const std::string folder = m.cgroups.path() + "/memory" + path;
    fs::create_directories(folder);
    std::ofstream(folder + "/memory.limit_in_bytes") << "4096\n";
    std::ofstream(folder + "/memory.usage_in_bytes") << "4096\n";
    std::ofstream(folder + "/memory.oom_control") << fmt::format("under_oom 0\noom_kill {}\n", kills);
  };
  for (const char* path : {"", "/a", "/a/b"}) put(path, 0);
  CollectorOptions options = many_descriptors();
  options.cgroup_root = m.cgroups.path();
  m.machine.collector = make_collector(m.machine.proc.proc(), m.machine.clock, options);
  m.add(10, "/a/b");
  CHECK(m.machine.tick().oom_kills.empty());
  count_kills(m, 3);
  put("/a", 1);
  put("/a/b", 2);
  CHECK(m.machine.tick().oom_kills == Kills{{"/a", 1}, {"/a/b", 2}});
}

TEST_CASE("SysV segments are a part of every tick, and their file may be missing or broken") {
  using M = MachineField;
  Machine machine;
  CHECK_FALSE(machine.tick().machine.memory.has(M::sysv));
  machine.proc.write(SystemFile::sysvipc_shm, "key shmid rss swap\n 0 1 4096 8192\n");
  CHECK(machine.tick().machine.memory.get(M::sysv) == 12);
  machine.proc.write(SystemFile::sysvipc_shm, "rubbish\n");
  const Tick broken = machine.tick();
  CHECK_FALSE(broken.machine.memory.has(M::sysv));
  CHECK(broken.counts.malformed == 1);
}
