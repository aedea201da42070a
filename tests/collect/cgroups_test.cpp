// Limits and usage of cgroups, in the ticks of a collector on a fake /proc and a fake /sys/fs/cgroup.

#include <algorithm>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <sys/stat.h>

#include "base/file.h"
#include "collect/cgroup/cgroup_reader.h"
#include "collect/collector_fixture.h"
#include "collect/interval_extremes.h"
#include "support/cgroup_reads.h"
#include "support/slurp.h"

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
    // Writes the file in place, as the kernel does, so that open descriptors read the new text.
    std::ofstream(fmt::format("{}/memory.{}", folder, file)) << text;
  }
  void limit(const std::string& path, std::string_view max, std::string_view current) const {
    put(path, "max", max);
    put(path, "current", current);
  }
  void add(std::int32_t pid, const std::string& cgroup) { machine.proc.add(member(pid, cgroup)); }
  // Changes the memory of a process from add().
  void move(std::int32_t pid, const std::string& cgroup) {
    held_kib_ += 4;
    machine.proc.update(member(pid, cgroup));
  }

 private:
  FakeProcess member(std::int32_t pid, const std::string& cgroup) const {
    FakeProcess process = fake(pid, "app", held_kib_);
    process.cgroup = cgroup;
    return process;
  }

  std::int64_t held_kib_ = 1000;
};

std::vector<std::string> paths_of(const Tick& tick) {
  std::vector<std::string> paths;
  for (const CgroupSample& sample : tick.cgroups) paths.push_back(sample.path);
  return paths;
}

using Paths = std::vector<std::string>;

}  // namespace

TEST_CASE("a process's cgroup and its ancestors have their limits, page cache and swap") {
  CgroupMachine m;
  m.limit("/a.slice", "1073741824\n", "8388608\n");
  m.limit("/a.slice/b.service", "max\n", "4194304\n");
  m.put("/a.slice/b.service", "high", "536870912\n");
  m.put("/a.slice/b.service", "stat",
        "anon 2097152\nkernel 32768\nshmem 16384\ninactive_file 1048576\nactive_file 1048576\n");
  m.put("/a.slice/b.service", "swap.current", "2048\n");
  m.put("/a.slice/b.service", "swap.max", "65536\n");
  m.limit("/other", "1\n", "1\n");
  m.add(10, "/a.slice/b.service");
  m.add(11, "/a.slice/b.service");
  const Tick tick = m.machine.tick();
  REQUIRE(tick.cgroups.size() == 2);
  CHECK(tick.cgroups[0] == CgroupSample{"/a.slice", 8192, {}, {}, 1048576, {}, {}});
  CHECK(tick.cgroups[1] == CgroupSample{"/a.slice/b.service", 4096, 2048, 2, {}, 524288, 64, 2048, 16, 32});
  CHECK(tick.counts.malformed == 0);
}

TEST_CASE("usage of a cgroup with changed processes is read at the tick") {
  CgroupMachine m;
  const auto a = [](const Tick& tick) { return tick.cgroups.front(); };
  for (const char* path : {"/a", "/a/below", "/still"}) {
    m.limit(path, "max\n", "4194304\n");
    m.put(path, "stat", "active_file 0\ninactive_file 1048576\n");
  }
  m.put("/a", "swap.current", "0\n");
  m.add(10, "/a/below");
  m.add(11, "/still");
  CHECK(a(m.machine.tick()) == CgroupSample{"/a", 4096, 1024, 0, {}, {}, {}});
  for (const char* path : {"/a", "/a/below", "/still"}) m.limit(path, "16777216\n", "8388608\n");
  m.put("/a", "stat", "active_file 2097152\ninactive_file 1048576\n");
  m.put("/a", "swap.current", "4194304\n");
  m.put("/a", "swap.max", "67108864\n");
  m.put("/a", "high", "8912896\n");
  CHECK(a(m.machine.tick()) == CgroupSample{"/a", 4096, 1024, 0, {}, {}, {}});
  m.move(10, "/a/below");
  const Tick next = m.machine.tick();
  CHECK(paths_of(next) == Paths{"/a", "/a/below", "/still"});
  // Limits are read again after a minute, and missing files after five.
  CHECK(a(next) == CgroupSample{"/a", 8192, 3072, 4096, {}, {}, {}});
  CHECK(next.cgroups[1].current_kib == 8192);
  CHECK(next.cgroups[2].current_kib == 4096);
  m.machine.clock.advance(60'000);
  CHECK(a(m.machine.tick()) == CgroupSample{"/a", 8192, 3072, 4096, 16384, {}, {}});
  CHECK(a(m.machine.tick(true)) == CgroupSample{"/a", 8192, 3072, 4096, 16384, {}, {}});
  m.machine.clock.advance(300'000);
  const Tick whole = m.machine.tick();
  CHECK(a(whole) == CgroupSample{"/a", 8192, 3072, 4096, 16384, 8704, 65536});
  CHECK(whole.cgroups[2].current_kib == 8192);
  // The kernel reclaims page cache at the limit. Usage stays the same, but less of it is page cache.
  m.put("/a", "stat", "active_file 0\ninactive_file 1048576\n");
  m.move(10, "/a/below");
  CHECK(a(m.machine.tick()).file_kib == 1024);
}

TEST_CASE("a cgroup that changed little repeats its last values, except near its limit and every five minutes") {
  CgroupMachine m;
  constexpr std::int64_t mib = 1024 * 1024;
  const auto hold = [&](std::int64_t bytes) {
    m.put("/a", "current", std::to_string(bytes) + "\n");
    m.move(10, "/a");
  };
  m.limit("/a", "1073741824\n", std::to_string(512 * mib) + "\n");
  m.put("/a", "stat", "anon 4096\n");
  m.add(10, "/a");
  const auto reported_kib = [&] { return m.machine.tick().cgroups.front().current_kib; };
  CHECK(reported_kib() == 512 * 1024);
  // The error stays below a 256th, however slowly usage changes.
  hold(513 * mib);
  CHECK(reported_kib() == 512 * 1024);
  hold(514 * mib);
  CHECK(reported_kib() == 512 * 1024);
  hold(514 * mib + 4096);
  CHECK(reported_kib() == 514 * 1024 + 4);
  hold(515 * mib);
  CHECK(reported_kib() == 514 * 1024 + 4);
  m.machine.clock.advance(300'000);
  CHECK(reported_kib() == 515 * 1024);
  hold(1000 * mib);
  CHECK(reported_kib() == 1000 * 1024);
  hold(1000 * mib + 4096);
  CHECK(reported_kib() == 1000 * 1024 + 4);
}

TEST_CASE("cgroups are read completely in rotation, once in five minutes, and a keyframe reads no more than that") {
  CgroupMachine m;
  std::vector<std::string> paths;
  for (int i = 0; i < 60; ++i) {
    paths.push_back(fmt::format("/g{:02}", i));
    m.limit(paths.back(), "max\n", "8388608\n");
    m.add(100 + i, paths.back());
  }
  m.machine.tick();
  for (const std::string& path : paths) m.put(path, "current", "4194304\n");
  const auto read_at = [&](bool keyframe) {
    m.machine.clock.advance(9'000);
    const Tick tick = m.machine.tick(keyframe);
    if (keyframe) CHECK(tick.cgroup_details->size() == paths.size());
    return std::ranges::count(tick.cgroups, 4096, &CgroupSample::current_kib);
  };
  std::ptrdiff_t before = 0;
  for (int tick = 1; tick <= 30; ++tick) {
    const std::ptrdiff_t read = read_at(tick == 10);
    CAPTURE(tick);
    CHECK(read - before <= 3);
    before = read;
  }
  CHECK(before >= 58);
}

TEST_CASE("a cgroup is read when a process in it or below it has exited") {
  CgroupMachine m;
  for (const char* path : {"/a", "/a/b", "/c"}) m.limit(path, "max\n", "8388608\n");
  m.add(10, "/a/b");
  m.add(11, "/a/b");
  m.add(12, "/c");
  m.machine.tick();
  m.machine.tick();
  for (const char* path : {"/a", "/a/b", "/c"}) m.limit(path, "max\n", "4194304\n");
  m.machine.proc.remove(11);
  const Tick tick = m.machine.tick();
  CHECK(tick.cgroups[0].current_kib == 4096);
  CHECK(tick.cgroups[1].current_kib == 4096);
  CHECK(tick.cgroups[2].current_kib == 8192);
}

TEST_CASE("slow-changing cgroup counters are read once a minute while its processes change") {
  CgroupMachine m;
  m.limit("/a", "max\n", "4096\n");
  m.put("/a", "min", "1024\n");
  m.put("/a", "low", "2048\n");
  m.put("/a", "peak", "8192\n");
  m.put("/a", "swap.peak", "4096\n");
  m.put("/a", "events", "low 1\nhigh 2\nmax 3\noom 4\noom_kill 5\n");
  m.put("/a", "events.local", "low 0\nhigh 0\nmax 0\noom 0\noom_kill 2\n");
  m.put("/a", "pressure",
        "some avg10=0.00 avg60=0.00 avg300=0.00 total=70\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=7\n");
  m.add(10, "/a");
  const Tick first = m.machine.tick();
  REQUIRE(first.cgroup_details);
  CHECK(*first.cgroup_details == std::vector{CgroupDetail{"/a", 1, 2, 8, 4, 1, 2, 3, 4, 5, 2, 70, 7}});
  m.put("/a", "peak", "16384\n");
  m.move(10, "/a");
  CHECK_FALSE(m.machine.tick().cgroup_details);
  m.machine.clock.advance(60'000);
  const Tick later = m.machine.tick();
  REQUIRE(later.cgroup_details);
  CHECK(later.cgroup_details->front().peak_kib == 16);
  // Without changes they are read at the next keyframe, or after five minutes.
  m.put("/a", "peak", "32768\n");
  m.machine.clock.advance(120'000);
  CHECK_FALSE(m.machine.tick().cgroup_details);
  m.machine.clock.advance(180'000);
  const Tick look = m.machine.tick();
  REQUIRE(look.cgroup_details);
  CHECK(look.cgroup_details->front().peak_kib == 32);
}

TEST_CASE("a cgroup near its limit is read completely at every tick") {
  CgroupMachine m;
  const char* limit = GENERATE("max", "high");
  CAPTURE(limit);
  m.limit("/a", "max\n", "9216\n");
  m.put("/a", limit, "10240\n");
  m.put("/a", "events", "low 0\nhigh 0\nmax 1\noom 0\noom_kill 0\n");
  m.add(10, "/a");
  m.machine.tick();
  m.put("/a", "current", "10240\n");
  m.put("/a", "events", "low 0\nhigh 0\nmax 9\noom 0\noom_kill 0\n");
  const Tick near = m.machine.tick();
  CHECK(near.cgroups.front().current_kib == 10);
  REQUIRE(near.cgroup_details);
  CHECK(near.cgroup_details->front().max_events == 9);
  m.put("/a", limit, "102400\n");
  CHECK(m.machine.tick().cgroup_details);
  CHECK_FALSE(m.machine.tick().cgroup_details);
}

TEST_CASE("a cgroup's peak between two ticks is recorded if its high-water mark rose above both") {
  CgroupMachine m;
  m.limit("/a", "max\n", "10485760\n");
  m.put("/a", "peak", "99614720\n");  // reached at an unknown time before the first reading
  m.put("/a", "swap.current", "0\n");
  m.put("/a", "swap.peak", "0\n");
  m.add(10, "/a");
  CHECK(m.machine.tick().extremes.cgroups.empty());
  const std::int64_t before_ms = m.machine.clock.now().wall_ms;
  m.move(10, "/a");
  CHECK(m.machine.tick().extremes.cgroups.empty());
  m.put("/a", "peak", "209715200\n");
  m.put("/a", "swap.peak", "52428800\n");
  m.machine.clock.advance(5'000);
  m.machine.tick();  // usage is unchanged, so it is read at the next change
  m.move(10, "/a");
  const std::int64_t at_ms = m.machine.clock.now().wall_ms;
  const Tick tick = m.machine.tick();
  REQUIRE(tick.extremes.cgroups.size() == 1);
  const CgroupExtremes& of = tick.extremes.cgroups.front();
  CHECK(of.path == "/a");
  CHECK(of.usage.highest == SeenSize{204'800, at_ms, before_ms, Origin::memory_peak});
  CHECK_FALSE(of.usage.lowest);
  CHECK(of.swap.highest == SeenSize{51'200, at_ms, before_ms, Origin::memory_peak});
  m.move(10, "/a");
  CHECK(m.machine.tick().extremes.cgroups.empty());
}

TEST_CASE("a cgroup's high-water mark that its reader resets counts for each interval separately") {
  PeakTracker peak;
  CHECK_FALSE(peak.see(900'000, 1'000, 10'000, 10'000).any());
  peak.note_reset();
  const Extremes lower = peak.see(500'000, 2'000, 10'000, 10'000);
  CHECK(lower.highest == SeenSize{500'000, 2'000, 1'000, Origin::memory_peak});
  CHECK(peak.ever_kib() == 900'000);
  peak.note_reset();
  CHECK_FALSE(peak.see(10'100, 3'000, 10'000, 10'000).any());   // the peak is not higher than usage at the ticks
  CHECK_FALSE(peak.see(400'000, 4'000, 10'000, 10'000).any());  // the mark was not reset before: may be old
  CHECK(peak.ever_kib() == 900'000);
  PeakTracker of_all;
  of_all.see(900'000, 1'000, 10'000, 10'000);
  CHECK_FALSE(of_all.see(400'000, 2'000, 10'000, 10'000).any());  // reset for all readers, as in v1
  CHECK(of_all.ever_kib() == 400'000);
  CHECK(of_all.see(500'000, 3'000, 10'000, 10'000).any());
}

TEST_CASE("resetting a mark writes only to the kernel's own file") {
  CgroupMachine m;
  m.limit("/a", "max\n", "4096\n");
  m.put("/a", "peak", "8192\n");
  m.add(10, "/a");
  m.machine.tick();
  m.move(10, "/a");
  m.machine.tick();
  CHECK(slurp(m.cgroups.path() + "/a/memory.peak") == "8192\n");
}

TEST_CASE("a cgroup without memory usage is not reported") {
  CgroupMachine m;
  m.limit("/full", "max\n", "4096\n");
  m.limit("/empty", "max\n", "0\n");
  m.limit("/swapped", "max\n", "0\n");
  m.put("/swapped", "swap.current", "4096\n");
  m.add(10, "/full");
  m.add(11, "/empty");
  m.add(12, "/swapped");
  const Tick tick = m.machine.tick();
  CHECK(paths_of(tick) == Paths{"/full", "/swapped"});
  REQUIRE(tick.cgroup_details);
  CHECK(tick.cgroup_details->size() == 2);
}

TEST_CASE("a cgroup without a process is read once more and forgotten, a deleted one at once") {
  CgroupMachine m;
  for (const char* path : {"/a", "/b", "/c"}) m.limit(path, "max\n", "4096\n");
  for (std::int32_t pid = 10; const char* path : {"/a", "/b", "/c"}) m.add(pid++, path);
  CHECK(paths_of(m.machine.tick()) == Paths{"/a", "/b", "/c"});
  m.machine.proc.remove(11);
  m.machine.proc.remove(12);
  m.limit("/c", "", "");  // the descriptor of a deleted cgroup reads nothing
  fs::remove_all(m.cgroups.path() + "/c");
  CHECK(paths_of(m.machine.tick()) == Paths{"/a", "/b"});
  m.limit("/c", "max\n", "8192\n");
  m.add(12, "/c");
  const Tick again = m.machine.tick();
  CHECK(paths_of(again) == Paths{"/a", "/c"});
  CHECK(again.cgroups.back().current_kib == 8);
}

TEST_CASE("a cgroup with a path that is too long or too deep is named by a digest and counts in its ancestors") {
  CgroupMachine m;
  std::string deep;
  for (int i = 0; i < 1990; ++i) deep += "/a";
  const std::string wide = "/b/" + std::string(3400, 'x');
  m.limit("/a", "max\n", "4096\n");
  m.limit("/b", "max\n", "4096\n");
  m.add(10, deep);
  m.add(11, deep + "/a");
  m.add(12, wide);
  const Tick tick = m.machine.tick();
  CHECK(paths_of(tick) == Paths{"/a", "/b"});
  CHECK(born_of(tick, 10).cgroup.starts_with("/a/a/a/"));
  CHECK(born_of(tick, 10).cgroup.size() < 100);
  CHECK(born_of(tick, 10).cgroup != born_of(tick, 11).cgroup);
  CHECK(born_of(tick, 12).cgroup.starts_with("/b/…"));
  CHECK(bounded_cgroup("/a/b.service") == "/a/b.service");
  CHECK(bounded_cgroup("/") == "/");
}

TEST_CASE("a user's cgroups are read up to a limit, the excess counts in ancestors, and other users' are all read") {
  const TemporaryDirectory folder;
  const auto limit = [&](const std::string& path, std::string_view current) {
    fs::create_directories(folder.path() + path);
    std::ofstream(folder.path() + path + "/memory.max") << "max\n";
    std::ofstream(folder.path() + path + "/memory.current") << current;
  };
  DescriptorBudget descriptors(100);
  const CgroupLimits limits{.of_user = 20, .of_users = 50, .of_root = 50};
  CgroupReader reader(CgroupFs(folder.path()), descriptors, limits);
  std::vector<std::string> paths;
  for (int i = 0; i < 200; ++i) paths.push_back(fmt::format("/flood/{}", i));
  for (const std::string& path : paths) limit(path, "8192\n");
  limit("/flood", "1638400\n");
  for (const char* path : {"/other", "/root"}) limit(path, "4096\n");
  const auto read = [&](std::size_t from) {
    std::vector<CgroupMember> members;
    for (std::size_t i = from; i < from + 100; ++i) members.push_back({paths[i], true, 1000});
    members.push_back({"/other", true, 1001});
    members.push_back({"/root", true, 0});
    Tick tick;
    Buffer buffer;
    CollectContext context{.tick = tick, .buffer = buffer};
    read_cgroups(reader, members, true, context);
    const Paths listed = paths_of(tick);
    CHECK(listed.size() <= 22);
    for (const char* path : {"/flood", "/other", "/root"}) CHECK(std::ranges::count(listed, path) == 1);
    CHECK(reader.left().unknown >= 80);
    return tick;
  };
  for (int i = 0; i < 3; ++i) read(0);
  // The first hundred cgroups have no processes any more. After a tick, new cgroups replace them.
  read(100);
  const Tick later = read(100);
  CHECK(std::ranges::count(paths_of(later), "/flood/100") == 1);
}

TEST_CASE("slow cgroup reads are deferred, and known and large cgroups come first") {
  const TemporaryDirectory folder;
  DescriptorBudget descriptors(0);
  CgroupReader reader(CgroupFs(folder.path()), descriptors, {.read_us = 0});
  std::vector<std::string> paths;
  for (int i = 0; i < 300; ++i) {
    paths.push_back(fmt::format("/{}", i));
    fs::create_directories(folder.path() + paths.back());
    std::ofstream(folder.path() + paths.back() + "/memory.max") << "max\n";
    std::ofstream(folder.path() + paths.back() + "/memory.current") << "8192\n";
  }
  std::vector<CgroupMember> members;
  for (const std::string& path : paths) members.push_back({path, true, 0});
  const auto read = [&] {
    Tick tick;
    Buffer buffer;
    CollectContext context{.tick = tick, .buffer = buffer};
    read_cgroups(reader, members, true, context);
    return tick.cgroups.size();
  };
  const std::size_t first = read();
  CHECK(first < 300);
  CHECK(reader.left().unread > 0);
  // The other cgroups are read at later ticks, even without changes.
  for (CgroupMember& member : members) member.moved = false;
  std::size_t all = first;
  for (int i = 0; i < 2000 && all < 300; ++i) all = read();
  CHECK(all == 300);
}

TEST_CASE("a read of a cgroup that does not return leaves out this cgroup only, two leave out all") {
  CollectorOptions options;
  options.read_deadline = std::chrono::milliseconds(500);
  CgroupMachine m(options);
  for (std::int32_t pid = 10; const char* path : {"/a", "/b", "/c"}) {
    m.limit(path, "max\n", "4194304\n");
    m.add(pid++, path);
  }
  const Tick before = m.machine.tick();
  CHECK(paths_of(before) == Paths{"/a", "/b", "/c"});

  const auto file = [&](const std::string& path) { return m.cgroups.path() + path + "/memory.current"; };
  const auto block = [&](const std::string& path) {
    fs::remove(file(path));
    REQUIRE(::mkfifo(file(path).c_str(), 0644) == 0);
  };
  block("/b");
  for (const char* path : {"/a", "/c"}) m.limit(path, "max\n", "8388608\n");
  m.move(11, "/b");
  const Tick blocked = m.machine.tick();
  CHECK(blocked.counts.blocked == 1);
  CHECK(blocked.cgroups == before.cgroups);
  for (int i = 0; i < 2; ++i) {
    const Tick tick = m.machine.tick();
    CHECK(tick.counts.blocked == 1);
    CHECK(paths_of(tick) == Paths{"/a", "/c"});
    for (const CgroupSample& sample : tick.cgroups) CHECK(sample.current_kib == 8192);
  }
  block("/c");
  m.move(12, "/c");
  CHECK(paths_of(m.machine.tick()) == Paths{"/a", "/c"});
  const Tick none = m.machine.tick();
  CHECK(none.counts.blocked == 2);
  CHECK(none.cgroups.empty());
  for (const char* path : {"/b", "/c"}) {
    // Opening the other end releases the reader (fifo(7)).
    CHECK(Fd(::open(file(path).c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC)));
    fs::remove(file(path));
    m.limit(path, "max\n", "12582912\n");
  }
  Tick tick = m.machine.tick();
  while (tick.counts.blocked > 0) tick = m.machine.tick();
  REQUIRE(paths_of(tick) == Paths{"/a", "/b", "/c"});
  CHECK(tick.cgroups[1].current_kib == 12288);
}

TEST_CASE("a tick that does not report its cgroups loses no peak, no kill and no change") {
  const TemporaryDirectory folder;
  DescriptorBudget descriptors(100);
  CgroupReader reader(CgroupFs(folder.path()), descriptors);
  const auto put = [&](const std::string& file, std::string_view text) {
    std::ofstream(folder.path() + "/a/memory." + file) << text;
  };
  fs::create_directories(folder.path() + "/a");
  put("max", "max\n");
  put("current", "8388608\n");
  put("peak", "8388608\n");
  put("events", "low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\n");
  const auto tick_at = [](std::int64_t ms, std::int64_t kills) {
    Tick tick;
    tick.begin = {.wall_ms = ms, .boot_ms = ms};
    tick.machine.memory.set(MachineField::oom_kill, kills);
    return tick;
  };
  Buffer buffer;
  const auto read = [&](Tick tick, bool moved, bool refresh = false) {
    CollectContext context{.tick = tick, .buffer = buffer};
    read_cgroups(reader, {{"/a", moved, 0}}, refresh, context);
    return tick;
  };
  REQUIRE(read(tick_at(1'000, 0), true, true).cgroups.size() == 1);

  put("peak", "104857600\n");
  put("events", "low 0\nhigh 0\nmax 1\noom 1\noom_kill 1\n");
  reader.begin({{"/a", true, 0}}, false, tick_at(2'000, 1));
  reader.read({}, buffer, [](const std::string&) { return true; });
  // A tick that was not read at all.
  put("current", "16777216\n");
  reader.begin({{"/a", true, 0}}, false, tick_at(3'000, 1));

  const Tick later = read(tick_at(4'000, 1), false);
  REQUIRE(later.cgroups.size() == 1);
  CHECK(later.cgroups[0].current_kib == 16'384);
  REQUIRE(later.extremes.cgroups.size() == 1);
  CHECK(later.extremes.cgroups[0].usage.highest == SeenSize{102'400, 2'000, 1'000, Origin::memory_peak});
  REQUIRE(later.oom_kills.size() == 1);
  CHECK(later.oom_kills[0].count == 1);
  REQUIRE(later.cgroup_details);
  const Tick last = read(tick_at(5'000, 1), true);
  CHECK(last.extremes.cgroups.empty());
  CHECK(last.oom_kills.empty());
  CHECK_FALSE(last.cgroup_details);
}

TEST_CASE("cgroups are read even if no descriptor can be cached") {
  CollectorOptions options;
  options.max_descriptors = 1;
  CgroupMachine m(options);
  m.limit("/a", "max\n", "4194304\n");
  m.add(10, "/a");
  CHECK(m.machine.tick().cgroups.front().current_kib == 4096);
  m.limit("/a", "max\n", "8388608\n");
  m.move(10, "/a");
  CHECK(m.machine.tick().cgroups.front().current_kib == 8192);
}

TEST_CASE("missing, denied, empty, truncated or huge cgroup files do not stop the tick") {
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
  CHECK(paths_of(tick) == Paths{"/empty", "/good", "/huge", "/torn"});
  for (const CgroupSample& cgroup : tick.cgroups) {
    CHECK(cgroup.current_kib == 4);
    CHECK_FALSE(cgroup.max_kib);
    CHECK_FALSE(cgroup.file_kib);
  }
  CHECK(tick.counts.malformed == 4);
}

TEST_CASE("in a tree without the memory controller no cgroups are reported") {
  CgroupMachine m;
  m.add(10, "/a");
  CHECK(m.machine.tick().cgroups.empty());
}

namespace {

using Kills = std::vector<OomKills>;

// Sets the machine's kill counter.
void count_kills(CgroupMachine& m, int kills) {
  m.machine.proc.write(SystemFile::vmstat, fmt::format("oom_kill {}\n", kills));
}

std::string events(int kills) {
  return fmt::format("low 0\noom {0}\noom_kill {0}\n", kills);
}

}  // namespace

TEST_CASE("an OOM kill belongs to the lowest cgroup that counts it; kills before the first reading belong to none") {
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

  // Two kills are in /a/b or a deleted child of it, one is in an unknown cgroup.
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

TEST_CASE("a cgroup with odd usage keeps its row and its last usage") {
  CgroupMachine m;
  m.limit("/a", "8192\n", "4096\n");
  m.add(10, "/a");
  REQUIRE(m.machine.tick().cgroups.size() == 1);
  m.limit("/a", "8192\n", "99999999999999999999\n");
  m.move(10, "/a");
  const Tick tick = m.machine.tick();
  REQUIRE(tick.cgroups.size() == 1);
  CHECK(tick.cgroups[0].current_kib == 4);
  CHECK(tick.counts.malformed > 0);
  m.limit("/a", "8192\n", "1048576\n");
  m.move(10, "/a");
  CHECK(m.machine.tick().cgroups[0].current_kib == 1024);
}

TEST_CASE("The first process of a killed group counts once, although the kernel counts it twice") {
  CgroupMachine m;
  const auto count = [&m](const char* path, int kills, int groups) {
    m.put(path, "events", fmt::format("low 0\noom_kill {}\noom_group_kill {}\n", kills, groups));
  };
  count_kills(m, 0);
  for (const char* path : {"/a", "/a/b", "/a/b/c"}) m.limit(path, "max\n", "4096\n");
  for (const char* path : {"/a", "/a/b", "/a/b/c"}) count(path, 0, 0);
  m.add(10, "/a/b/c");
  CHECK(m.machine.tick().oom_kills.empty());

  // All of /a/b is killed: three processes in /a/b/c, of which one was chosen first.
  count_kills(m, 4);
  count("/a/b/c", 4, 0);
  for (const char* path : {"/a", "/a/b"}) count(path, 4, 1);
  const Tick tick = m.machine.tick();
  CHECK(tick.oom_kills == Kills{{"/a/b", 3, 1}});
  std::int64_t ahead = 0;
  CHECK(unattributed_kills(4, tick, ahead) == 0);
  CHECK(ahead == 0);

  // The next kill is a single process.
  count_kills(m, 5);
  count("/a/b/c", 5, 0);
  for (const char* path : {"/a", "/a/b"}) count(path, 5, 1);
  CHECK(m.machine.tick().oom_kills == Kills{{"/a/b/c", 1}});
}

TEST_CASE("an OOM kill that appears in the cgroup's counter before the machine's is not reported twice") {
  CgroupMachine m;
  count_kills(m, 0);
  m.limit("/a", "max\n", "4096\n");
  m.limit("/a/b", "4096\n", "4096\n");
  for (const char* path : {"/a", "/a/b"}) m.put(path, "events", events(0));
  m.add(10, "/a/b");
  m.machine.tick();
  // The machine's counter was read before the kill, the cgroup's counter after it.
  for (const char* path : {"/a", "/a/b"}) m.put(path, "events", events(1));
  CHECK(m.machine.tick().oom_kills.empty());
  count_kills(m, 1);
  CHECK(m.machine.tick().oom_kills == Kills{{"/a/b", 1}});
}

namespace {

// A fake v1 memory controller and a collector that reads it.
struct V1Machine : CgroupMachine {
  V1Machine() {
    CollectorOptions options = many_descriptors();
    options.cgroup_root = cgroups.path();
    put_v1("", "limit_in_bytes", "9223372036854771712\n");
    machine.collector = make_collector(machine.proc.proc(), machine.clock, options);
  }
  void put_v1(const std::string& path, const std::string& file, std::string_view text) const {
    put("/memory" + path, file, text);
  }
  void group(const std::string& path, std::string_view limit, int kills) const {
    put_v1(path, "limit_in_bytes", limit);
    put_v1(path, "usage_in_bytes", "4096\n");
    put_v1(path, "oom_control", fmt::format("under_oom 0\noom_kill {}\n", kills));
  }
};

}  // namespace

TEST_CASE("OOM kills of v1: each cgroup counts its own") {
  V1Machine m;
  for (const char* path : {"", "/a", "/a/b"}) m.group(path, "4096\n", 0);
  m.add(10, "/a/b");
  CHECK(m.machine.tick().oom_kills.empty());
  count_kills(m, 3);
  m.group("/a", "4096\n", 1);
  m.group("/a/b", "4096\n", 2);
  CHECK(m.machine.tick().oom_kills == Kills{{"/a", 1}, {"/a/b", 2}});
}

TEST_CASE("a v1 cgroup has v1's values, and the unified tree next to it is ignored") {
  V1Machine m;
  m.group("/a", "8192\n", 2);
  m.put_v1("/a", "max_usage_in_bytes", "8192\n");
  m.put_v1("/a", "failcnt", "17\n");
  m.put_v1("/a", "kmem.usage_in_bytes", "1024\n");
  m.put_v1("/a", "stat",
           "rss 1\ntotal_rss 2048\ntotal_shmem 1024\ntotal_swap 4096\ntotal_inactive_file 1024\n"
           "total_active_file 0\n");
  m.put("/unified/a", "current", "40960\n");
  m.put("/unified/a", "max", "max\n");
  m.put("/unified/a", "peak", "81920\n");
  m.put("/unified/only-there", "current", "40960\n");
  m.put("/unified/only-there", "max", "max\n");
  m.add(10, "/a");
  m.add(11, "/only-there");
  const Tick tick = m.machine.tick();
  REQUIRE(paths_of(tick) == Paths{"/a"});
  CHECK(tick.cgroups[0] == CgroupSample{"/a", 4, 1, 4, 8, {}, {}, 2, 1, 1});
  CgroupDetail detail;
  detail.path = "/a";
  detail.peak_kib = 8;
  detail.max_events = 17;
  detail.own_oom_kills = 2;
  REQUIRE(tick.cgroup_details);
  CHECK(*tick.cgroup_details == std::vector{detail});
  CHECK(tick.counts.malformed == 0);
}

TEST_CASE("cgroups of a unified tree next to v1's controllers are read if it has the memory controller") {
  CgroupMachine m;
  m.put("/unified/a", "max", "max\n");
  m.put("/unified/a", "current", "4096\n");
  std::ofstream(m.cgroups.path() + "/unified/cgroup.controllers") << "memory\n";
  fs::create_directories(m.cgroups.path() + "/cpu/a");
  CollectorOptions options = many_descriptors();
  options.cgroup_root = m.cgroups.path();
  m.machine.collector = make_collector(m.machine.proc.proc(), m.machine.clock, options);
  m.add(10, "/a");
  CHECK(paths_of(m.machine.tick()) == Paths{"/a"});
}

TEST_CASE("an unreadable file of a cgroup is absent, without an error") {
  CgroupMachine m;
  m.limit("/a", "max\n", "4096\n");
  // A directory can be opened, but each read fails, as with EOPNOTSUPP and ENODEV.
  fs::create_directory(m.cgroups.path() + "/a/memory.pressure");
  fs::create_directory(m.cgroups.path() + "/a/memory.peak");
  fs::create_directory(m.cgroups.path() + "/a/memory.stat");
  m.add(10, "/a");
  const Tick tick = m.machine.tick();
  REQUIRE(tick.cgroups.size() == 1);
  CHECK_FALSE(tick.cgroups[0].anon_kib);
  REQUIRE(tick.cgroup_details);
  CHECK_FALSE(tick.cgroup_details->front().peak_kib);
  CHECK_FALSE(tick.cgroup_details->front().psi_some_total_us);
  CHECK(tick.counts.malformed == 0);
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
