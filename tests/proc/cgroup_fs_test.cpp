#include "proc/cgroup_fs.h"

#include <filesystem>

#include "support/catch.h"
#include "support/temporary_directory.h"

using namespace memoir;

namespace {

void put(const std::string& path, std::string_view text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  REQUIRE(write_file(path, text).ok());
}

}  // namespace

TEST_CASE("cgroup_fs: v2 from its root, v1 from below memory, by one set of names") {
  Buffer buffer;
  const test::TemporaryDirectory v2;
  put(v2.path() + "/a.slice/memory.max", "max\n");
  put(v2.path() + "/memory.current", "4096\n");
  CHECK(*CgroupFs(v2.path()).read("/a.slice", CgroupFile::max, buffer) == "max\n");
  CHECK(*CgroupFs(v2.path()).read("/", CgroupFile::current, buffer) == "4096\n");

  const test::TemporaryDirectory v1;
  put(v1.path() + "/memory/memory.limit_in_bytes", "9223372036854771712\n");
  put(v1.path() + "/memory/a/memory.usage_in_bytes", "8192\n");
  const CgroupFs cgroups(v1.path());
  CHECK(*cgroups.read("/a", CgroupFile::current, buffer) == "8192\n");
  CHECK(*cgroups.read("/", CgroupFile::max, buffer) == "9223372036854771712\n");
  CHECK(cgroups.read("/a", CgroupFile::high, buffer).error().kind == ErrorKind::gone);
}

TEST_CASE("cgroup_fs: nothing outside of the tree is read") {
  Buffer buffer;
  const test::TemporaryDirectory directory;
  put(directory.path() + "/outside/memory.max", "1\n");
  put(directory.path() + "/tree/a/memory.max", "2\n");
  const CgroupFs cgroups(directory.path() + "/tree");
  CHECK(*cgroups.read("/a", CgroupFile::max, buffer) == "2\n");
  const auto path = GENERATE(as<std::string>{}, "/../outside", "/a/../../outside", "/a/..", "", "a", "/none");
  INFO(path);
  CHECK(cgroups.read(path, CgroupFile::max, buffer).error().kind == ErrorKind::gone);
}
