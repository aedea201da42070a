// Bounds on the data that the collector keeps about processes, their names, cgroups and mappings.

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <malloc.h>
#include <set>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/heap_bytes.h"
#include "bounds/row.h"
#include "collect/cgroup/cgroup_reader.h"
#include "collect/collector_fixture.h"
#include "collect/container/container_files.h"
#include "collect/mappings/mapping_fold.h"
#include "collect/process/command_reader.h"
#include "collect/process/name_budget.h"
#include "collect/process/text_budget.h"
#include "collect/tmpfs/walk.h"
#include "collect/worker/read_budget.h"
#include "support/cgroup_reads.h"
#include "support/temporary_directory.h"

namespace memoir::test {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kFirstUser = 1000;
constexpr std::uint32_t kLastUser = kFirstUser + 4 * kExcess;  // enough users to reach the bound on all users

ProcessInfo process_of(std::uint32_t uid) {
  ProcessInfo info;
  info.uid = uid;
  info.user = "user";
  info.comm = "flood";
  return info;
}

SmapsRegion region_of(const std::string& path) {
  SmapsRegion region;
  region.permissions = "rw-s";
  region.path = path;
  region.memory.set(ProcessField::pss, 4);
  region.memory.set(ProcessField::private_dirty, 4);
  return region;
}

void write_file(const std::string& path, std::string_view text) {
  fs::create_directories(fs::path(path).parent_path());
  std::ofstream(path) << text;
}

}  // namespace

void probe_process_memory(const BoundRow& row) {
  // Under a sanitizer, which has its own allocator, this number does not change.
  const auto heap_in_use = [] {
    const struct mallinfo2 info = ::mallinfo2();
    return static_cast<std::int64_t>(info.uordblks + info.hblkhd);
  };
  // The worst processes: their long texts all differ, and exceed the bound on a user's texts.
  constexpr std::int32_t kProcesses = 3000;
  Machine machine;
  for (std::int32_t pid = 10; pid < 10 + kProcesses; ++pid) {
    FakeProcess process = fake(pid, "worst");
    process.uid = kFirstUser;
    process.exe = fmt::format("/{}/{}", std::string(200, 'e') + '/' + std::string(290, 'e'), pid);
    process.cwd = fmt::format("/{}/{}", std::string(200, 'c') + '/' + std::string(290, 'c'), pid);
    process.arguments = {"worst", std::to_string(pid), std::string(4000, 'a')};
    machine.proc.add(process);
  }
  const std::int64_t before = heap_in_use();
  const Tick tick = machine.tick();
  const std::int64_t bytes = heap_in_use() - before;
  REQUIRE(tick.born.size() == kProcesses);
  // The texts have their own bound. They are stored twice: in the table and in the tick.
  CHECK(bytes <= kProcesses * row.number("each, with the tick") + 2 * TextBudget::kMaxOfUser);
}

void probe_texts(const BoundRow& row) {
  const auto of_user = static_cast<std::size_t>(row.number("of a user"));
  const auto of_all = static_cast<std::size_t>(row.number("of all"));
  const auto of_command = static_cast<std::size_t>(row.number("bytes of a command line"));
  TextBudget budget;
  budget.begin_tick();
  std::size_t kept_of_all = 0;
  std::size_t shortened = 0;
  for (std::uint32_t uid = kFirstUser; uid < kFirstUser + kExcess; ++uid) {
    std::size_t given = 0;
    std::size_t kept = 0;
    while (given < of_user * kExcess) {
      ProcessInfo info = process_of(uid);
      info.command.assign(16'000, 'a');
      info.cwd.assign(500, 'd');
      info.settings.limits.assign(300, 'l');
      const ProcessInfo whole = info;
      given += heap_bytes(info);
      budget.fit(info, nullptr, {});
      if (info == whole) {
        kept += heap_bytes(info);
        continue;
      }
      ++shortened;
      CHECK(heap_bytes(info) < 2 * of_command);
    }
    CHECK(kept <= of_user);
    kept_of_all += kept;
  }
  CHECK(kept_of_all <= of_all);
  CHECK(budget.shortened() == shortened);
  CHECK(budget.shortened_user().find(std::to_string(kFirstUser + kExcess - 1)) != std::string::npos);
}

void probe_slow_reads(const BoundRow& row) {
  const std::int64_t of_user_us = row.number("ms of a user in a tick") * 1000;
  const std::int64_t of_all_us = row.number("ms of all users in a tick") * 1000;
  const std::int64_t share = row.number("of a core");
  constexpr std::int64_t kReadUs = 10'000;
  ReadBudget budget;
  budget.begin(0);
  std::int64_t all_us = 0;
  for (std::uint32_t uid = kFirstUser; uid < kLastUser; ++uid) {
    std::int64_t own_us = 0;
    for (std::int64_t given = 0; given < of_user_us * kExcess; given += kReadUs) {
      if (!budget.allows(uid, true)) continue;
      budget.charge(uid, {.cpu_us = 0, .wall_us = kReadUs});
      own_us += kReadUs;
    }
    CHECK(own_us <= of_user_us);
    all_us += own_us;
  }
  // One read per user is needed before that user is known to be slow.
  CHECK(all_us <= of_all_us + (kLastUser - kFirstUser) * kReadUs);
  // CPU time of the ticks of one minute, without the budget saved before the first tick.
  std::int64_t cpu_us = 0;
  for (int second = 0; second < 60; second += 10) {
    budget.begin(second * std::int64_t{1'000'000});
    for (int i = 0; i < 10'000 && budget.allows(kLastUser, false); ++i) {
      budget.charge(kLastUser, {.cpu_us = kReadUs, .wall_us = 1});
      cpu_us += kReadUs;
    }
  }
  CHECK(cpu_us <= ReadBudget::kCpuUs + 60'000'000 / share);
}

void probe_command_lines(const BoundRow& row) {
  const std::int64_t of_user = row.number("of a user in a tick");
  const std::int64_t of_all = row.number("of all");
  constexpr std::size_t kMaxCommand = 4096;
  const TemporaryDirectory folder;
  const std::string path = folder.path() + "/cmdline";
  write_file(path, "flood" + std::string(1, '\0') + std::string(200'000, 'x'));
  const auto redactor = Redactor::make({});
  REQUIRE(redactor.ok());
  CommandReader reader(*redactor, kMaxCommand);
  reader.begin_tick(0);
  Buffer buffer;
  constexpr std::int64_t kRead = kMaxCommand + Redactor::kLookAhead;
  std::int64_t all = 0;
  for (std::uint32_t uid = kFirstUser; uid < kFirstUser + kExcess; ++uid) {
    std::int64_t own = 0;
    int refused = 0;
    for (std::int64_t given = 0; given < of_user * kExcess; given += kRead) {
      const auto command = reader.read(path, uid, false, buffer);
      if (!command) ++refused;
      if (!command) continue;
      own += kRead;
      CHECK(command->size() < 2 * kMaxCommand);
    }
    CHECK(own < of_user + kRead);
    CHECK(refused > 0);
    all += own;
  }
  CHECK(all < of_all + kRead);
}

void probe_names(const BoundRow& row) {
  constexpr std::int64_t kFile = 16 << 20;
  const std::int64_t part = row.number("of `max_size` in a day");
  const std::int64_t users = row.number("times that");
  const std::int64_t most = row.number("new names");
  const auto names_of = [](NameBudget& budget, std::uint32_t uid, std::int64_t count) {
    std::set<std::string> stored;
    bool is_other = false;
    for (std::int64_t i = 0; i < count; ++i) {
      ProcessInfo info = process_of(uid);
      info.exe = info.command = fmt::format("/{}/{}", uid, i);
      if (budget.fit(info, {}, 0)) stored.insert(info.command);
      is_other = is_other || info.command.starts_with("[other of user]");
    }
    CHECK(is_other);
    return static_cast<std::int64_t>(stored.size());
  };
  NameBudget small(kFile);
  const std::int64_t of_user = kFile / part / 1024;
  std::int64_t all = 0;
  for (std::uint32_t uid = kFirstUser; uid < kLastUser; ++uid) {
    const std::int64_t own = names_of(small, uid, of_user * kExcess);
    CHECK(own <= of_user);
    all += own;
  }
  CHECK(all <= of_user * users);
  NameBudget large(std::int64_t{1} << 50);
  CHECK(names_of(large, kFirstUser, most * kExcess / 4) <= most);
}

void probe_cgroups(const BoundRow& row) {
  const CgroupLimits limits;
  CHECK(row.number("ms of a tick") * 1000 == limits.read_us);
  const auto of_user = static_cast<std::size_t>(row.number("of a user"));
  const auto of_users = static_cast<std::size_t>(row.number("of all but root"));
  const auto of_root = static_cast<std::size_t>(row.number("of root"));
  const TemporaryDirectory folder;
  const auto known = [&](std::uint32_t first_uid, std::uint32_t last_uid, std::size_t of_each) {
    DescriptorBudget descriptors(0);
    CgroupReader reader(CgroupFs(folder.path()), descriptors, limits);
    std::vector<std::string> paths;
    for (std::uint32_t uid = first_uid; uid <= last_uid; ++uid) {
      for (std::size_t i = 0; i < of_each; ++i) paths.push_back(fmt::format("/{}-{}", uid, i));
    }
    std::vector<CgroupMember> members;
    for (std::size_t i = 0; i < paths.size(); ++i)
      members.push_back({paths[i], true, first_uid + static_cast<std::uint32_t>(i / of_each)});
    Tick tick;
    Buffer buffer;
    CollectContext context{.tick = tick, .buffer = buffer};
    read_cgroups(reader, members, true, context);
    CHECK(reader.left().unknown > 0);
    return members.size() - reader.left().unknown;
  };
  CHECK(known(kFirstUser, kFirstUser, of_user * kExcess) <= of_user);
  CHECK(known(kFirstUser, kLastUser, of_users * kExcess / (kLastUser - kFirstUser)) <= of_users);
  CHECK(known(0, 0, of_root * kExcess) <= of_root);
}

void probe_cgroup_paths(const BoundRow& row) {
  const auto levels = static_cast<std::size_t>(row.number("levels"));
  const auto bytes = static_cast<std::size_t>(row.number("bytes"));
  std::string deep;
  for (std::size_t i = 0; i < levels * kExcess; ++i) deep += "/a";
  const std::string wide = "/b/" + std::string(bytes * kExcess, 'x');
  for (const std::string& path : {deep, wide, deep + wide}) {
    const std::string bounded = bounded_cgroup(path);
    CHECK(static_cast<std::size_t>(std::ranges::count(bounded, '/')) <= levels + 1);
    CHECK(bounded.size() < bytes + 32);
    CHECK(bounded.find("…") != std::string::npos);
    CHECK(bounded != bounded_cgroup(path + "/z"));
  }
}

void probe_mappings(const BoundRow& row) {
  const MappingLimits limits;
  CHECK(row.number("ms in an hour") * 1000 == limits.cpu_us_an_hour);
  CHECK(row.number("processes") == static_cast<std::int64_t>(limits.processes));
  CHECK(row.number("labels") == static_cast<std::int64_t>(limits.labels));
  for (const std::int64_t most : {row.number("labels"), row.number("shared objects")}) {
    MappingFold fold({}, static_cast<std::size_t>(most));
    for (std::int64_t i = 0; i < most * kExcess; ++i) fold.add(region_of(fmt::format("/lib/{}", i)));
    const MappingSummary summary = fold.take();
    CHECK(std::ssize(summary.rows) <= most);
    std::int64_t kib = 0;
    for (const MappingRow& of : summary.rows) kib += of.use.pss_kib();
    for (const MappingUse& others : summary.others) kib += others.pss_kib();
    CHECK(kib == most * kExcess * 4);
  }
}

void probe_tmpfs(const BoundRow& row) {
  WalkLimits limits;
  CHECK(row.number("entries") == limits.entries);
  CHECK(row.number("levels") == static_cast<std::int64_t>(limits.depth));
  CHECK(row.number("ms for a walk") == limits.time.count());
  const auto files = static_cast<std::size_t>(row.number("largest files"));
  const auto directories = static_cast<std::size_t>(row.number("directories kept"));
  // The test uses a thousandth of the entries, because a million files take long to create.
  limits.entries /= 1000;
  limits.time = std::chrono::minutes(1);
  limits.min_kib = 0;
  const TemporaryDirectory folder;
  std::string deep = folder.path();
  for (std::size_t i = 0; i < limits.depth * 2; ++i) deep += "/d";
  write_file(deep + "/x", "x");
  for (int i = 0; i < limits.entries * kExcess; ++i) write_file(fmt::format("{}/{}/{}", folder.path(), i % 50, i), "x");
  struct stat status {};
  REQUIRE(::stat(folder.path().c_str(), &status) == 0);
  const TmpfsMount mount{major(status.st_dev), minor(status.st_dev), folder.path()};
  const TmpfsTree tree = walk_tmpfs(mount, limits);
  CHECK(tree.content.entries <= limits.entries);
  CHECK(tree.walk == TmpfsWalk::cut);
  CHECK_FALSE(tree.problem.empty());
  CHECK(tree.largest.size() <= files + directories);
}

void probe_segments(const BoundRow& row) {
  const std::int64_t most = row.number("largest");
  std::string text = "key shmid perms size cpid lpid nattch uid gid cuid cgid atime dtime ctime rss swap\n";
  for (std::int64_t i = 0; i < most * kExcess; ++i)
    text += fmt::format("0 {} 600 1048576 10 11 1 0 0 0 0 0 0 0 4096 0\n", i);
  Machine machine;
  machine.proc.write(SystemFile::sysvipc_shm, text);
  const Tick tick = machine.tick();
  REQUIRE(tick.segments);
  CHECK(std::ssize(*tick.segments) == most);
  CHECK(tick.machine.memory.get(MachineField::sysv) == most * kExcess * 4);
}

void probe_containers(const BoundRow& row) {
  const std::string id(64, 'a');
  const auto name_of = [&](const std::string& file, const std::string& text, const std::string& cgroup,
                           std::size_t spaces) {
    const TemporaryDirectory root;
    write_file(root.path() + file, text + std::string(spaces, ' '));
    Container container = container_in(cgroup);
    Buffer buffer;
    describe_container(root.path(), container, buffer);
    return container.name;
  };
  const std::string docker = "/var/lib/docker/containers/" + id + "/config.v2.json";
  const auto of_one = static_cast<std::size_t>(row.number("of a file about one"));
  CHECK(name_of(docker, R"({"Name":"/web"})", "/docker/" + id, 0) == "web");
  CHECK(name_of(docker, R"({"Name":"/web"})", "/docker/" + id, of_one * kExcess).empty());
  const std::string podman = "/var/lib/containers/storage/overlay-containers/containers.json";
  const std::string list = R"([{"id":")" + id + R"(","names":["web"],"metadata":"{}"}])";
  const auto of_all = static_cast<std::size_t>(row.number("of a file about all"));
  CHECK(name_of(podman, list, "/libpod_parent/libpod-" + id, 0) == "web");
  CHECK(name_of(podman, list, "/libpod_parent/libpod-" + id, of_all * kExcess).empty());
}

void probe_blocked_reads(const BoundRow& row) {
  const auto stuck_reads = [](std::uint32_t first_uid, std::uint32_t end_uid, bool fast, ReadBudget budget) {
    budget.begin(0);
    std::int64_t stuck = 0;
    for (std::uint32_t uid = first_uid; uid != end_uid; ++uid) {
      for (int i = 0; i < 100 && budget.allows(uid, fast); ++i, ++stuck) budget.stuck(uid);
    }
    return stuck;
  };
  CHECK(stuck_reads(kFirstUser, kFirstUser + 1, false, {}) == row.number("of a user"));
  CHECK(stuck_reads(kFirstUser, kFirstUser + 1, true, {}) == row.number("if they are usually fast"));
  CHECK(stuck_reads(131'072, 131'072 + 400, false, {}) == row.number("of a range"));
  CHECK(stuck_reads(kFirstUser, kFirstUser + 400, true, {}) == row.number("of all users"));
  ReadBudget used;
  for (std::int64_t i = 0; i < row.number("of all users"); ++i) used.stuck(kFirstUser + static_cast<std::uint32_t>(i));
  CHECK(stuck_reads(0, 1, true, used) == row.number("with root's") - row.number("of all users"));
}

}  // namespace memoir::test
