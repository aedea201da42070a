#pragma once

// Reads the files in which container managers describe their containers:
//
//   Docker      /var/lib/docker/containers/ID/config.v2.json
//   Podman      /var/lib/containers/storage/DRIVER-containers/containers.json
//   CRI-O       /run/containers/storage/DRIVER-containers/ID/userdata/config.json, its annotations
//   containerd  /run/containerd/io.containerd.runtime.v2.task/NAMESPACE/ID/config.json, its annotations
//   kubelet     /var/log/pods/NAMESPACE_NAME_UID, a folder
//
// Most of them are readable only by root; without permission the fields stay empty. Reads may block, so they belong in
// a job. The contents are untrusted: they are truncated to a few hundred bytes and made UTF-8.

#include <string>

#include "base/file.h"
#include "model/container.h"

namespace memoir {

// Fills in the name, image and pod of a container found by its cgroup; fields without a file stay empty. `root` is a
// prefix of all paths above.
void describe_container(const std::string& root, Container& container, Buffer& buffer);

}  // namespace memoir
