#pragma once

// Derives a process's container from the path of its cgroup. Each container manager has its own naming scheme, so no
// manager needs to be queried. Pure.

#include <string>
#include <string_view>

namespace memoir {

// Fields that come from the managers' own files are empty if the files lack them.
struct Container {
  std::string
      runtime;      // "docker", "podman", "containerd", "cri-o", "kubernetes", "lxc", "nspawn"; "container" if unknown
  std::string key;  // container id, or the name if there is no id
  std::string name;
  std::string image;
  std::string pod_uid;  // uid of the pod; empty without Kubernetes
  std::string pod;      // namespace/name of the pod

  bool operator==(const Container&) const = default;
};

// Returns the innermost of nested containers, with its runtime, key and pod_uid. The runtime is empty without a
// container.
Container container_in(std::string_view cgroup);

// Returns "docker:3f2a4b5c6d7e" with the first twelve digits of an id, as the managers' own programs list it, or
// "lxc:NAME".
std::string container_label(const Container& container);

// Returns the label of container_in(); empty without a container.
std::string container_of(std::string_view cgroup);

}  // namespace memoir
