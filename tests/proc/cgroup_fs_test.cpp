#include "proc/cgroup_fs.h"

#include <filesystem>

#include "support/catch.h"
#include "support/temporary_directory.h"

using namespace memoir;

namespace {

std::string text_of(const CgroupFs& cgroups, std::string_view path, CgroupFile file) {
  Buffer buffer;
  const auto opened = cgroups.open(path, file);
  REQUIRE(opened.ok());
  return std::string(*read_all(*opened, buffer, "a file"));
}

void put(const std::string& path, std::string_view text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  REQUIRE(write_file(path, text).ok());
}

}  // namespace

TEST_CASE("cgroup_fs: v2 from its root, v1 from below memory, by one set of names") {
  const test::TemporaryDirectory v2;
  put(v2.path() + "/a.slice/memory.max", "max\n");
  put(v2.path() + "/memory.current", "4096\n");
  CHECK(text_of(CgroupFs(v2.path()), "/a.slice", CgroupFile::max) == "max\n");
  CHECK(text_of(CgroupFs(v2.path()), "/", CgroupFile::current) == "4096\n");

  const test::TemporaryDirectory v1;
  put(v1.path() + "/memory/memory.limit_in_bytes", "9223372036854771712\n");
  put(v1.path() + "/memory/a/memory.usage_in_bytes", "8192\n");
  const CgroupFs cgroups(v1.path());
  CHECK(text_of(cgroups, "/a", CgroupFile::current) == "8192\n");
  CHECK(text_of(cgroups, "/", CgroupFile::max) == "9223372036854771712\n");
  CHECK(cgroups.open("/a", CgroupFile::high).error().kind == ErrorKind::gone);
  CHECK_FALSE(cgroups.has(CgroupFile::high));
  CHECK(cgroups.has(CgroupFile::failures));
}

TEST_CASE("cgroup_fs: with both hierarchies the files are of the one that has the memory controller") {
  // v1 has it, and v2 the processes; PSI is there in both cases.
  const test::TemporaryDirectory v1;
  put(v1.path() + "/memory/memory.limit_in_bytes", "9223372036854771712\n");
  put(v1.path() + "/memory/a/memory.usage_in_bytes", "8192\n");
  put(v1.path() + "/unified/cgroup.controllers", "\n");
  put(v1.path() + "/unified/a/memory.current", "1\n");
  put(v1.path() + "/unified/a/memory.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1\n");
  const CgroupFs of_v1(v1.path());
  CHECK(text_of(of_v1, "/a", CgroupFile::current) == "8192\n");
  CHECK(of_v1.open("/a", CgroupFile::pressure).error().kind == ErrorKind::gone);
  CHECK_FALSE(of_v1.counts_below());

  const test::TemporaryDirectory v2;
  put(v2.path() + "/cpu/a/cgroup.procs", "1\n");
  put(v2.path() + "/unified/cgroup.controllers", "memory\n");
  put(v2.path() + "/unified/a/memory.current", "4096\n");
  const CgroupFs of_v2(v2.path());
  CHECK(text_of(of_v2, "/a", CgroupFile::current) == "4096\n");
  CHECK(of_v2.counts_below());
}

TEST_CASE("cgroup_fs: nothing outside of the tree is read") {
  const test::TemporaryDirectory directory;
  put(directory.path() + "/outside/memory.max", "1\n");
  put(directory.path() + "/tree/a/memory.max", "2\n");
  const CgroupFs cgroups(directory.path() + "/tree");
  CHECK(text_of(cgroups, "/a", CgroupFile::max) == "2\n");
  const auto path = GENERATE(as<std::string>{}, "/../outside", "/a/../../outside", "/a/..", "", "a", "/none");
  INFO(path);
  CHECK(cgroups.open(path, CgroupFile::max).error().kind == ErrorKind::gone);
}
