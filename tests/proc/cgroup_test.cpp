#include "proc/cgroup.h"

#include "model/cgroup.h"
#include "support/catch.h"
#include "support/fixture.h"

using namespace memoir;

TEST_CASE("cgroup: the path is from the v1 memory controller, otherwise from v2, otherwise from systemd's hierarchy") {
  const auto path = [](const std::string& text) {
    const auto found = parse_cgroup(text);
    REQUIRE(found.ok());
    return std::string(*found);
  };
  CHECK(path("0::/system.slice/nginx.service\n") == "/system.slice/nginx.service");
  CHECK(path("0::/v2\n4:memory:/v1\n1:name=systemd:/s\n") == "/v1");
  CHECK(path("4:cpu,memory,pids:/v1\n0::/v2\n") == "/v1");
  CHECK(path("4:memoryless:/no\n1:name=systemd:/s\n0::/v2\n") == "/v2");
  CHECK(path("3:cpu:/c\n1:name=systemd:/s\n") == "/s");
  CHECK(path("0::/\n") == "/");
  CHECK(path("4:memory:/\n1:name=systemd:/system.slice/nginx.service\n0::/\n") == "/system.slice/nginx.service");
  CHECK(path("1:name=systemd:/user.slice/a.scope\n4:memory:/user.slice\n") == "/user.slice/a.scope");
  CHECK(path("1:name=systemd:/user.slice2/a.scope\n4:memory:/user.slice\n") == "/user.slice");
  CHECK(path("0::/a:b::c/../../d e\xff\n") == "/a:b::c/../../d e\xff");
}

TEST_CASE("cgroup: the fixtures are parsed") {
  const auto path = [](const std::string& name) { return std::string(*parse_cgroup(test::fixture(name + "/cgroup"))); };
  CHECK(path("linux-6.1/mysqld") == "/system.slice/mysql.service");
  CHECK(path("linux-5.10/containerd-shim") == "/docker/4f5c:with:colons (deleted)");
  CHECK(path("linux-4.18/mysqld") == "/system.slice/mysql.service");
  CHECK(path("linux-6.18/kernel-thread") == "/");
}

TEST_CASE("cgroup: lines that are truncated, without a path or odd are malformed") {
  const auto text = GENERATE(as<std::string>{}, "0::/system.sli", "0::\n", "0::relative\n", "4:memory\n", "4:cpu:/c\n",
                             "garbage\n", "\n", ":::\n");
  INFO(text);
  const auto found = parse_cgroup(text);
  REQUIRE_FALSE(found.ok());
  CHECK(found.error().kind == ErrorKind::malformed);
}

TEST_CASE("cgroup: no text means that the process has exited") {
  CHECK(parse_cgroup("").error().kind == ErrorKind::not_found);
}

TEST_CASE("cgroup: a path outside the recorder's cgroup namespace belongs to no cgroup") {
  CHECK(cgroup_above("/a/b") == "/a");
  CHECK(cgroup_above("/a") == "/");
  CHECK(cgroup_above("/").empty());
  CHECK(cgroup_above("/../a") == "/..");
  CHECK(cgroup_above("/..").empty());
  CHECK(cgroup_above("/../..").empty());
  CHECK(cgroup_above("/..a") == "/");
}
