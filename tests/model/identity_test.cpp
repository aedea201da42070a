#include "model/identity.h"

#include "base/text.h"
#include "model/container.h"
#include "support/catch.h"

namespace memoir::test {
namespace {

TEST_CASE("a command is normalised to the parts that stay the same across starts") {
  const auto is = [](const char* command, const char* expected) {
    INFO(command);
    CHECK(normalised_command(command) == expected);
  };
  is("/usr/sbin/cron -f", "/usr/sbin/cron -f");
  is("postgres: 15/main: app app 10.0.0.7(51234) idle", "postgres: N/main: app app N.N.N.N(N) idle");
  is("java -Xmx2g -jar /opt/app/service.jar --port 8080", "java -XmxNg -jar /opt/app/service.jar --port N");
  is("sh /tmp/tmp.Xa81kd/run.sh", "sh /tmp/*");
  is("job --out=/var/tmp/x91 end", "job --out=/var/tmp/* end");
  is("shim -id 3fb1c9d20a4be7715a0c -namespace moby", "shim -id H -namespace moby");
  is("run 6d1f6f0e-1111-4c3b-9f6e-0123456789ab", "run H");
  is("  spaced \t out  ", "spaced out");
  is("", "");
  // A word of hexadecimal letters stays.
  is("cat deadbeefcafe", "cat deadbeefcafe");
}

TEST_CASE("A script is the file that an interpreter runs") {
  CHECK(script_of("python3 /srv/worker.py 60 0") == "worker.py");
  CHECK(script_of("/usr/bin/python3.11 -u worker.py") == "worker.py");
  CHECK(script_of("java -Xmx2g -cp x -jar /opt/app.jar 3") == "app.jar");
  CHECK(script_of("java -cp x com.example.Main").empty());
  CHECK(script_of("sh -c run.sh").empty());
  CHECK(script_of("nginx: worker process").empty());
  CHECK(script_of("").empty());
}

TEST_CASE("only the first words of a command count, and no character is split") {
  CHECK(normalised_command("a b c d e f g h i j") == "a b c d e f g h");
  std::string wide = "x";
  for (int i = 0; i < 100; ++i) wide += "\xc3\xa4";
  const std::string normalised = normalised_command(wide);
  CHECK(normalised.size() == 159);
  CHECK(to_utf8(normalised) == normalised);
}

TEST_CASE("the unit of a cgroup is the last systemd unit of its path") {
  CHECK(unit_of("/system.slice/nginx.service") == "nginx.service");
  CHECK(unit_of("/system.slice/postgresql@15-main.service") == "postgresql@15-main.service");
  CHECK(unit_of("/user.slice/user-1000.slice/user@1000.service/app.slice/sync.service") == "sync.service");
  CHECK(unit_of("/user.slice/user-1000.slice/session-42.scope") == "session-N.scope");
  CHECK(unit_of("/user.slice/run-6d1f6f0e-1111-4c3b-9f6e-0123456789ab.scope") == "run-H.scope");
  CHECK(unit_of("/") == "/");
  CHECK(unit_of("").empty());
  CHECK(place_of("/user.slice/user-1000.slice/session-42.scope") == "session-42.scope");
  CHECK(place_of("/batch/42") == "/batch/42");
}

TEST_CASE("containers never merge: each has its name in its unit, or its id") {
  const std::string id = "0f3c5d7e9a1b" + std::string(52, 'c');
  CHECK(unit_of("/docker/" + id) == "docker:0f3c5d7e9a1b");
  CHECK(unit_of("/system.slice/docker-" + id + ".scope") == "docker:0f3c5d7e9a1b");
  CHECK(unit_of("/machine.slice/libpod-" + id + ".scope/container") == "podman:0f3c5d7e9a1b");
  CHECK(unit_of("/kubepods/burstable/pod6d1f6f0e-1111-4c3b-9f6e-0123456789ab/" + id) == "kubernetes:0f3c5d7e9a1b");
  CHECK(unit_of("/machine.slice/machine-web1.scope") == "nspawn:web1");
  CHECK(unit_of("/lxc/web1") == "lxc:web1");
  // A unit of the systemd that runs inside the container.
  CHECK(unit_of("/system.slice/docker-" + id + ".scope/system.slice/nginx.service") ==
        "docker:0f3c5d7e9a1b/nginx.service");
  CHECK(unit_of("/lxc.payload.web2/user.slice/session-3.scope") == "lxc:web2/session-N.scope");
  CHECK(place_of("/lxc.payload.web2/user.slice/session-3.scope") == "lxc:web2/session-3.scope");
  // A container inside another container.
  CHECK(unit_of("/docker/" + id + "/docker/" + std::string(64, 'a')) == "docker:aaaaaaaaaaaa");
}

// An algorithm quadratic in the length of the path would take minutes.
TEST_CASE("an extremely long path takes only a moment") {
  std::string path;
  for (int i = 0; i < 100'000; ++i) path += "/a1";
  CHECK(unit_of(path + "/nginx.service") == "nginx.service");
  CHECK(container_of(path).empty());
}

TEST_CASE("two starts of a program are one identity") {
  ProcessInfo first;
  first.cgroup = "/system.slice/app.service";
  first.exe = "/opt/app/bin/app";
  first.command = "/opt/app/bin/app --listen 8080 --pid 4711";
  ProcessInfo second = first;
  second.key.pid = 99;
  second.command = "/opt/app/bin/app --listen 8081 --pid 12";
  CHECK(identity_of(first) == identity_of(second));
  second.cgroup = "/system.slice/other.service";
  CHECK(!(identity_of(first) == identity_of(second)));
}

}  // namespace
}  // namespace memoir::test
