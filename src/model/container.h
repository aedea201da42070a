#pragma once

// The container that a process runs in, as the path of its cgroup tells: container managers name cgroups by a scheme of
// their own each, and none has to be asked. Pure.

#include <string>
#include <string_view>

namespace memoir {

// What the managers' own files tell of one is empty where they do not.
struct Container {
  std::string
      runtime;      // "docker", "podman", "containerd", "cri-o", "kubernetes", "lxc", "nspawn"; "container": not known
  std::string key;  // its id, or the name where that is all there is
  std::string name;
  std::string image;
  std::string pod_uid;  // of Kubernetes
  std::string pod;      // its namespace/name

  bool operator==(const Container&) const = default;
};

// Of containers in each other the innermost, with its runtime, key and pod_uid. Without a runtime: none.
Container container_in(std::string_view cgroup);

// "docker:3f2a4b5c6d7e" with the first twelve digits of an id, as the managers' own programs list it; "lxc:NAME".
std::string container_label(const Container& container);

// The label of container_in. Empty: none.
std::string container_of(std::string_view cgroup);

}  // namespace memoir
