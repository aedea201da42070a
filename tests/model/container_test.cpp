#include "model/container.h"

#include "support/catch.h"

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

TEST_CASE("What is no container has none") {
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
