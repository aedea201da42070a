#include "model/container.h"

#include "support/catch.h"

using memoir::Container;
using memoir::container_in;
using memoir::container_label;
using memoir::container_of;

namespace {

const std::string kId = "3f2a4b5c6d7e8f901234567890abcdef3f2a4b5c6d7e8f901234567890abcdef";
const std::string kOther = "aaaabbbbccccddddeeeeffff0000111122223333444455556666777788889999";

}  // namespace

TEST_CASE("The container of a process is in the path of its cgroup, as each manager writes it") {
  struct Example {
    std::string cgroup;
    const char* container;
  };
  for (const Example& example : {
           Example{"/docker/" + kId, "docker:3f2a4b5c6d7e"},
           Example{"/system.slice/docker-" + kId + ".scope", "docker:3f2a4b5c6d7e"},
           Example{"/user.slice/user-1000.slice/user@1000.service/user.slice/docker-" + kId + ".scope",
                   "docker:3f2a4b5c6d7e"},
           Example{"/machine.slice/libpod-" + kId + ".scope/container", "podman:3f2a4b5c6d7e"},
           Example{"/libpod_parent/libpod-" + kId, "podman:3f2a4b5c6d7e"},
           Example{"/system.slice/cri-containerd-" + kId + ".scope", "containerd:3f2a4b5c6d7e"},
           Example{"/system.slice/nerdctl-" + kId + ".scope", "containerd:3f2a4b5c6d7e"},
           Example{"/k8s.io/" + kId, "containerd:3f2a4b5c6d7e"},
           Example{"/default/" + kId, "containerd:3f2a4b5c6d7e"},
           Example{"/system.slice/crio-" + kId + ".scope", "cri-o:3f2a4b5c6d7e"},
           Example{"/kubepods/burstable/pod12ab/" + kId, "kubernetes:3f2a4b5c6d7e"},
           Example{"/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod12ab.slice/cri-containerd-" + kId +
                       ".scope",
                   "kubernetes:3f2a4b5c6d7e"},
           Example{"/system.slice/containerd.service/kubepods-burstable-pod1.slice:cri-containerd:" + kId,
                   "kubernetes:3f2a4b5c6d7e"},
           Example{"/system.slice/containerd.service/system.slice:docker:" + kId, "docker:3f2a4b5c6d7e"},
           Example{"/docker/" + kId + "/kubelet/kubepods/pod1/" + kOther, "kubernetes:aaaabbbbcccc"},
           Example{"/build/" + kId, "container:3f2a4b5c6d7e"},
           Example{"/lxc.payload.web-1/system.slice/nginx.service", "lxc:web-1"},
           Example{"/lxc/101/ns/init.scope", "lxc:101"},
           Example{"/machine.slice/systemd-nspawn@build\\x2dbox.service/payload", "nspawn:build-box"},
           Example{"/machine.slice/machine-debian\\x2d12.scope", "nspawn:debian-12"},
       }) {
    CAPTURE(example.cgroup);
    CHECK(container_of(example.cgroup) == example.container);
  }
}

TEST_CASE("Other cgroups have no container") {
  for (const std::string& cgroup :
       {std::string(), std::string("/"), std::string("/system.slice/docker.service"),
        std::string("/system.slice/nginx.service"), "/machine.slice/libpod-conmon-" + kId + ".scope",
        std::string("/lxc.monitor.web-1"), std::string("/user.slice/user-1000.slice/session-3.scope"),
        std::string("/machine.slice/machine-qemu\\x2d1\\x2dvm.scope"), std::string("/docker"),
        std::string("/docker/buildx"), std::string("/kubepods/burstable/pod12ab")}) {
    CAPTURE(cgroup);
    CHECK(container_of(cgroup).empty());
  }
}

TEST_CASE("The full id and the pod of a container are in the path of either cgroup driver") {
  const std::string uid = "0f3c5d7e-1111-2222-3333-444455556666";
  struct Example {
    std::string cgroup;
    std::string pod_uid;
  };
  for (const Example& example : {
           Example{"/kubepods/burstable/pod" + uid + "/" + kId, uid},
           Example{"/kubepods/pod" + uid + "/" + kId + "/init", uid},
           Example{"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod0f3c5d7e_1111_2222_3333_"
                   "444455556666.slice/crio-" +
                       kId + ".scope",
                   uid},
           Example{"/system.slice/containerd.service/kubepods-pod0f3c5d7e_1111_2222_3333_444455556666.slice:"
                   "cri-containerd:" +
                       kId,
                   uid},
           // A static pod of the kubelet, from a file.
           Example{"/kubepods/burstable/poda1b2c3d4e5f60718293a4b5c6d7e8f90/" + kId,
                   "a1b2c3d4e5f60718293a4b5c6d7e8f90"},
       }) {
    CAPTURE(example.cgroup);
    const Container container = container_in(example.cgroup);
    CHECK(container.runtime == "kubernetes");
    CHECK(container.key == kId);
    CHECK(container.pod_uid == example.pod_uid);
    CHECK(container_label(container) == "kubernetes:3f2a4b5c6d7e");
  }
  CHECK(container_in("/docker/" + kId) == Container{"docker", kId, {}, {}, {}, {}});
  CHECK(container_in("/docker/" + kId + "/docker/" + kOther).key == kOther);
  CHECK(container_in("/lxc/aaaabbbbccccdddd") == Container{"lxc", "aaaabbbbccccdddd", {}, {}, {}, {}});
  CHECK(container_of("/lxc/aaaabbbbccccdddd") == "lxc:aaaabbbbccccdddd");
  CHECK(container_in("/system.slice/nginx.service") == Container());
}
