#pragma once

// What container managers write down about their containers, in files of their own:
//
//   Docker      /var/lib/docker/containers/ID/config.v2.json
//   Podman      /var/lib/containers/storage/DRIVER-containers/containers.json
//   CRI-O       /run/containers/storage/DRIVER-containers/ID/userdata/config.json, its annotations
//   containerd  /run/containerd/io.containerd.runtime.v2.task/NAMESPACE/ID/config.json, its annotations
//   kubelet     /var/log/pods/NAMESPACE_NAME_UID, a folder
//
// They are root's for the most part: who may not read them learns nothing. Reads may block: for a job. What is in them
// is others' words: it is cut to some hundred bytes and made UTF-8.

#include <string>

#include "base/file.h"
#include "model/container.h"

namespace memoir {

// Fills in the name, image and pod of one that its cgroup told of; what no file tells stays empty. `root` stands before
// all of the paths above.
void describe_container(const std::string& root, Container& container, Buffer& buffer);

}  // namespace memoir
