#include "proc/cgroup_fs.h"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

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

TEST_CASE("cgroup_fs: the same names lead to files of v2 and of v1's memory controller") {
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
  CHECK(cgroups.open("/a", CgroupFile::high).error().kind == ErrorKind::not_found);
  CHECK_FALSE(cgroups.has(CgroupFile::high));
  CHECK(cgroups.has(CgroupFile::failures));
}

TEST_CASE("cgroup_fs: if both hierarchies exist, the files are those of the hierarchy with the memory controller") {
  // The memory controller is in v1, and the processes are in v2. PSI exists in both cases.
  const test::TemporaryDirectory v1;
  put(v1.path() + "/memory/memory.limit_in_bytes", "9223372036854771712\n");
  put(v1.path() + "/memory/a/memory.usage_in_bytes", "8192\n");
  put(v1.path() + "/unified/cgroup.controllers", "\n");
  put(v1.path() + "/unified/a/memory.current", "1\n");
  put(v1.path() + "/unified/a/memory.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1\n");
  const CgroupFs of_v1(v1.path());
  CHECK(text_of(of_v1, "/a", CgroupFile::current) == "8192\n");
  CHECK(of_v1.open("/a", CgroupFile::pressure).error().kind == ErrorKind::not_found);
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
  CHECK(cgroups.open(path, CgroupFile::max).error().kind == ErrorKind::not_found);
}

TEST_CASE("cgroup_fs: names that are not UTF-8 are stored separately, and read by their bytes") {
  const test::TemporaryDirectory root;
  put(root.path() + "/cgroup.controllers", "memory\n");
  for (const auto& [name, text] :
       {std::pair{"/a\xff", "1\n"}, {"/a\xfe", "2\n"}, {"/a\\xff", "3\n"}, {"/b\\x2dc", "4\n"}})
    put(root.path() + name + "/memory.current", text);
  const CgroupFs cgroups(root.path());
  std::vector<std::string> names = cgroups.children("/");
  std::ranges::sort(names);
  CHECK(names == std::vector<std::string>{"a\\x5cxff", "a\\xfe", "a\\xff", "b\\x2dc"});
  CHECK(text_of(cgroups, "/a\\xff", CgroupFile::current) == "1\n");
  CHECK(text_of(cgroups, "/a\\xfe", CgroupFile::current) == "2\n");
  CHECK(text_of(cgroups, "/a\\x5cxff", CgroupFile::current) == "3\n");
  CHECK(text_of(cgroups, "/b\\x2dc", CgroupFile::current) == "4\n");
}

TEST_CASE("cgroup_fs: a mount of a part of the hierarchy gives only the files of that part") {
  const test::TemporaryDirectory root;
  put(root.path() + "/cgroup.controllers", "memory\n");
  put(root.path() + "/memory.current", "1\n");
  put(root.path() + "/x/memory.current", "2\n");
  const auto mounted = [&](const std::string& part) {
    return CgroupFs(root.path(), "31 23 0:27 / / rw - ext4 a rw\n32 23 0:26 " + part + " " + root.path() +
                                     " ro,nosuid - cgroup2 cgroup rw\n");
  };
  const CgroupFs whole = mounted("/");
  CHECK(whole.top() == "/");
  CHECK(text_of(whole, "/x", CgroupFile::current) == "2\n");
  const CgroupFs part = mounted("/docker/abc");
  CHECK(part.top() == "/docker/abc");
  CHECK(text_of(part, "/docker/abc", CgroupFile::current) == "1\n");
  CHECK(text_of(part, "/docker/abc/x", CgroupFile::current) == "2\n");
  CHECK(part.children("/docker/abc") == std::vector<std::string>{"x"});
  for (const char* path : {"/", "/x", "/docker", "/docker/abcd"})
    CHECK_FALSE(part.open(path, CgroupFile::current).ok());
  const CgroupFs above = mounted("/../..");
  CHECK(above.top().empty());
  CHECK_FALSE(above.open("/", CgroupFile::current).ok());
}
