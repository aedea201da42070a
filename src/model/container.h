#pragma once

// The container that a process runs in, as the path of its cgroup tells: container managers name cgroups by a scheme of
// their own each, and none has to be asked. Pure.

#include <string>
#include <string_view>

namespace memoir {

// "docker:3f2a4b5c6d7e", "podman:…", "containerd:…", "cri-o:…", "kubernetes:…" with the first twelve digits of the id,
// as those programs list it; "lxc:NAME", "nspawn:NAME"; "container:…" where only the id tells. Of containers in each
// other the innermost. Empty: none.
std::string container_of(std::string_view cgroup);

}  // namespace memoir
