#include "analysis/leak/limits.h"
#include "support/catch.h"

using namespace memoir;

namespace {

MachineMemory machine(std::int64_t available_kib, std::int64_t swap_free_kib) {
  MachineMemory memory;
  memory.set(MachineField::mem_available, available_kib);
  memory.set(MachineField::swap_free, swap_free_kib);
  return memory;
}

CgroupSample cgroup(std::string path, std::int64_t current_kib, std::optional<std::int64_t> max_kib) {
  CgroupSample sample;
  sample.path = std::move(path);
  sample.current_kib = current_kib;
  sample.max_kib = max_kib;
  return sample;
}

std::vector<std::string> names_of(const std::vector<LeakLimit>& limits) {
  std::vector<std::string> names;
  for (const LeakLimit& limit : limits) names.push_back(limit.name);
  return names;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("the machine's headroom is available memory and free swap") {
  REQUIRE(machine_limits(machine(1000, 200)).size() == 1);
  CHECK(machine_limits(machine(1000, 200)).front().room == 1200);
  CHECK(machine_limits(MachineMemory()).empty());
}

TEST_CASE("only the limits of a cgroup and its ancestors count") {
  const std::vector<CgroupSample> cgroups{cgroup("/", 900, 1000),   cgroup("/a", 100, 500),  cgroup("/a/b", 50, {}),
                                          cgroup("/a/b/c", 10, 90), cgroup("/a/bc", 10, 20), cgroup("/d", 1, 2)};
  CHECK(names_of(cgroup_limits(cgroups, {"/a/b/c"}, machine(0, 0))) ==
        Names{"memory.max of /", "memory.max of /a", "memory.max of /a/b/c"});
  CHECK(names_of(cgroup_limits(cgroups, {"/a/b"}, machine(0, 0))) == Names{"memory.max of /", "memory.max of /a"});
  CHECK(names_of(cgroup_limits(cgroups, {"/a/b/c", "/a/bc"}, machine(0, 0))) ==
        Names{"memory.max of /", "memory.max of /a"});
  CHECK(names_of(cgroup_limits(cgroups, {"/a", "/d"}, machine(0, 0))) == Names{"memory.max of /"});
  CHECK(cgroup_limits(cgroups, {}, machine(0, 0)).empty());
}

TEST_CASE("page cache is headroom, and so is usable swap") {
  CgroupSample sample = cgroup("/a", 900, 1000);
  const auto room = [&](std::int64_t swap_free_kib) {
    return cgroup_limits({sample}, {"/a"}, machine(5000, swap_free_kib)).front().room;
  };
  CHECK(room(0) == 100);
  CHECK(room(300) == 400);
  sample.file_kib = 700;
  CHECK(room(0) == 800);
  sample.swap_max_kib = 50;
  sample.swap_kib = 20;
  CHECK(room(300) == 830);
  CHECK(room(10) == 810);
  sample.swap_kib = 60;
  CHECK(room(300) == 800);
  // The values are read at different times and may not add up.
  sample.file_kib = 950;
  CHECK(room(0) == 1000);
  sample = cgroup("/a", 2000, 1000);
  CHECK(room(0) == 0);
}

TEST_CASE("memory.high is a limit of its own") {
  CgroupSample sample = cgroup("/a", 100, 1000);
  sample.high_kib = 400;
  const auto limits = cgroup_limits({sample}, {"/a/b"}, machine(0, 0));
  REQUIRE(names_of(limits) == Names{"memory.max of /a", "memory.high of /a"});
  CHECK(limits[1].room == 300);
}
