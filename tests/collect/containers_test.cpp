// Container details from the state files of container managers, below a fake root.

#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <sys/stat.h>

#include "base/text.h"
#include "collect/cgroup/container_reader.h"
#include "collect/collector_fixture.h"
#include "collect/container/container_files.h"
#include "support/temporary_directory.h"

using namespace memoir;
using namespace memoir::test;

namespace {

namespace fs = std::filesystem;

const std::string kId = "d07dceba191b37a47c206358633e6cb35fbb2c6266e1cacddc5cec9159c4978d";
const std::string kPod = "0f3c5d7e-1111-2222-3333-444455556666";

class Managers {
 public:
  const std::string& root() const { return folder_.path(); }
  void put(const std::string& path, std::string_view text) const {
    fs::create_directories(fs::path(root() + path).parent_path());
    std::ofstream(root() + path) << text;
  }
  Container describe(const std::string& cgroup) const {
    Container container = container_in(cgroup);
    Buffer buffer;
    describe_container(root(), container, buffer);
    return container;
  }
  // Writes Docker's state file of /docker/ID.
  void docker(std::string_view text) const { put("/var/lib/docker/containers/" + kId + "/config.v2.json", text); }
  Container of_docker() const { return describe("/docker/" + kId); }

 private:
  TemporaryDirectory folder_;
};

}  // namespace

TEST_CASE("containers: Docker's own file has the name and the image") {
  const Managers managers;
  managers.docker(
      R"({"StreamConfig":{},"State":{"Running":true,"Pid":812},"ID":"d07d","Created":"2026-11-20T08:00:00Z",)"
      R"("Path":"nginx","Args":["-g","daemon off;"],"Config":{"Hostname":"d07d","Env":["PATH=/usr/bin"],)"
      R"("Image":"nginx:1.27","Labels":{"maintainer":"x"}},"Image":"sha256:12ab","Name":"/web-1","Driver":"overlay2"})");
  CHECK(managers.of_docker() == Container{"docker", kId, "web-1", "nginx:1.27", {}, {}});
}

TEST_CASE("containers: Podman's list, as version 4.3.1 wrote it") {
  const Managers managers;
  const std::string list = "/var/lib/containers/storage/overlay-containers/containers.json";
  managers.put(list, R"([{"id":"aaaa","names":["other"],"metadata":"{}"},{"id":")" + kId +
                         R"(","names":["shop-db"],"image":"0b1c","layer":"e1ba",)"
                         R"("metadata":"{\"image-name\":\"docker.io/library/postgres:16\",\"image-id\":\"0b1c\",)"
                         R"(\"name\":\"shop-db\",\"created-at\":1795406171}","created":"2026-11-23T03:56:11.9Z",)"
                         R"("flags":{"MountLabel":"","ProcessLabel":""}}])");
  CHECK(managers.describe("/machine.slice/libpod-" + kId + ".scope/container") ==
        Container{"podman", kId, "shop-db", "docker.io/library/postgres:16", {}, {}});
  // The files are deleted with the container. A container that was made from a folder has no image.
  managers.put(list, "[]");
  managers.put("/var/lib/containers/storage/overlay-containers/volatile-containers.json",
               R"([{"id":")" + kId + R"(","names":["once"],"metadata":"{\"image-name\":\"\"}"}])");
  CHECK(managers.describe("/libpod_parent/libpod-" + kId) == Container{"podman", kId, "once", {}, {}, {}});
}

TEST_CASE("containers: the annotations of containerd and of CRI-O, with the pod") {
  const Managers managers;
  const std::string of_containerd =
      R"({"ociVersion":"1.1.0","process":{"args":["/app"]},"annotations":{"io.kubernetes.cri.container-name":"app",)"
      R"("io.kubernetes.cri.image-name":"registry/app:7","io.kubernetes.cri.sandbox-name":"shop-7d9f",)"
      R"("io.kubernetes.cri.sandbox-namespace":"prod"}})";
  const std::string of_crio =
      R"({"annotations":{"io.kubernetes.container.name":"app","io.kubernetes.cri-o.ImageName":"registry/app:7",)"
      R"("io.kubernetes.pod.name":"shop-7d9f","io.kubernetes.pod.namespace":"prod"}})";
  if (GENERATE(true, false)) {
    managers.put("/run/containerd/io.containerd.runtime.v2.task/k8s.io/" + kId + "/config.json", of_containerd);
  } else {
    managers.put("/run/containers/storage/overlay-containers/" + kId + "/userdata/config.json", of_crio);
  }
  CHECK(managers.describe("/kubepods/burstable/pod" + kPod + "/" + kId) ==
        Container{"kubernetes", kId, "app", "registry/app:7", kPod, "prod/shop-7d9f"});
}

TEST_CASE("containers: the name of a pod comes from the kubelet's log folder") {
  const Managers managers;
  fs::create_directories(managers.root() + "/var/log/pods/kube-system_coredns-5d7_" + kPod + "/coredns");
  fs::create_directories(managers.root() + "/var/log/pods/_" + kPod);
  const Container container = managers.describe("/kubepods/besteffort/pod" + kPod + "/" + kId);
  CHECK(container.pod == "kube-system/coredns-5d7");
  CHECK(container.name.empty());
}

TEST_CASE("containers: without a state file a container has only its runtime and id") {
  const Managers managers;
  CHECK(managers.of_docker() == Container{"docker", kId, {}, {}, {}, {}});
  CHECK(managers.describe("/lxc/101") == Container{"lxc", "101", {}, {}, {}, {}});
}

TEST_CASE("containers: broken, deep, huge or binary files are ignored") {
  const Managers managers;
  const auto text = GENERATE(as<std::string>{}, "", "{", "[]", "null", "\"x\"", R"({"Name":7,"Config":{"Image":[]}})",
                             R"({"Name":null,"Config":"x"})", "{\"Name\":\"\xff\"}", std::string(200'000, '['),
                             std::string(600'000, ' ') + R"({"Name":"/late"})");
  managers.docker(text);
  CHECK(managers.of_docker() == Container{"docker", kId, {}, {}, {}, {}});
}

TEST_CASE("containers: names are truncated and remain UTF-8") {
  const Managers managers;
  std::string name;
  for (int i = 0; i < 200; ++i) name += "ä";
  managers.docker(R"({"Name":"/)" + name + R"(","Config":{"Image":"a\u001b[31mb"}})");
  const Container container = managers.of_docker();
  CHECK(container.name.size() <= 260);
  CHECK(to_utf8(container.name) == container.name);
  CHECK(container.image == "a\x1b[31mb");
}

TEST_CASE("containers: links out of a manager's folder are not followed, and only regular files are read") {
  const Managers managers;
  const std::string folder = managers.root() + "/var/lib/docker/containers/" + kId;
  managers.put("/outside/config.v2.json", R"({"Name":"/stolen"})");
  const int how = GENERATE(0, 1, 2);
  CAPTURE(how);
  if (how == 0) {
    fs::create_directories(managers.root() + "/var/lib/docker/containers");
    fs::create_directory_symlink(managers.root() + "/outside", folder);
  } else {
    fs::create_directories(folder);
    if (how == 1) fs::create_symlink(managers.root() + "/outside/config.v2.json", folder + "/config.v2.json");
    if (how == 2) REQUIRE(::mkfifo((folder + "/config.v2.json").c_str(), 0600) == 0);
  }
  CHECK(managers.of_docker().name.empty());
}

TEST_CASE("containers: a manager's folder may be a link, for example to another disk") {
  const Managers managers;
  managers.put("/disk/containers/" + kId + "/config.v2.json", R"({"Name":"/web-1"})");
  fs::create_directories(managers.root() + "/var/lib");
  fs::create_directory_symlink(managers.root() + "/disk", managers.root() + "/var/lib/docker");
  CHECK(managers.of_docker().name == "web-1");
}

namespace {

void add_to(Machine& machine, std::int32_t pid, const std::string& cgroup) {
  FakeProcess process = fake(pid, "app");
  process.cgroup = cgroup;
  machine.proc.add(process);
}

CollectorOptions reading(const Managers& managers) {
  CollectorOptions options = many_descriptors();
  options.container_root = managers.root();
  return options;
}

}  // namespace

TEST_CASE("containers are reported once, a tick after a process in them was first sampled, and again on demand") {
  const Managers managers;
  managers.docker(R"({"Name":"/web-1","Config":{"Image":"nginx"}})");
  Machine machine(reading(managers));
  add_to(machine, 10, "/docker/" + kId);
  add_to(machine, 11, "/docker/" + kId);
  add_to(machine, 12, "/system.slice/nginx.service");
  CHECK(machine.tick().containers.empty());
  const std::vector reported{CgroupContainer{"/docker/" + kId, {"docker", kId, "web-1", "nginx", {}, {}}}};
  CHECK(machine.tick().containers == reported);
  CHECK(machine.tick().containers.empty());
  add_to(machine, 13, "/docker/" + kId);
  CHECK(machine.tick().containers.empty());
  CHECK(machine.tick().containers.empty());
  machine.collector->report_all();
  CHECK(machine.tick().containers.empty());
  CHECK(machine.tick().containers == reported);
}

TEST_CASE("without permission to read state files, containers have the details in their cgroup's name") {
  const Managers managers;
  managers.docker(R"({"Name":"/web-1","Config":{"Image":"nginx"}})");
  CollectorOptions options = reading(managers);
  options.container_names = false;
  Machine machine(options);
  add_to(machine, 10, "/docker/" + kId);
  CHECK(machine.tick().containers == std::vector{CgroupContainer{"/docker/" + kId, {"docker", kId, {}, {}, {}, {}}}});
}

TEST_CASE("constantly renamed containers use no more of the store than a fixed part") {
  const Managers managers;
  ContainerReader reader(managers.root(), true, 16LL << 20);
  BlockingReader blocking(std::chrono::seconds(10));
  Buffer buffer;
  std::int64_t named = 0;
  constexpr int kContainers = 2000;
  for (int i = 0; i < kContainers; ++i) {
    const std::string id = fmt::format("{:064x}", i);
    managers.put("/var/lib/docker/containers/" + id + "/config.v2.json",
                 R"({"Name":"/)" + std::string(250, 'x') + std::to_string(i) + R"("})");
    Tick tick;
    ProcessInfo info;
    info.cgroup = "/docker/" + id;
    tick.born.push_back(info);
    CollectContext context{.tick = tick, .buffer = buffer};
    if (const auto job = reader.ask()) blocking.run({job}, tick.cost);
    reader.take(context);
    for (const CgroupContainer& of : tick.containers) named += of.container.name.empty() ? 0 : 1;
  }
  CHECK(named > 100);
  CHECK(named < 600);
}
