#include <filesystem>
#include <fstream>

#include "collect/containers/container_files.h"
#include "fuzz/require.h"
#include "fuzz/targets.h"
#include "support/temporary_directory.h"

namespace memoir::fuzz {
namespace {

constexpr const char* kId = "3f2a4b5c6d7e3f2a4b5c6d7e3f2a4b5c6d7e3f2a4b5c6d7e3f2a4b5c6d7e3f2a";
constexpr std::size_t kLongestName = 1024;

void write_file(const std::string& path, std::string_view text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

void require_described(const ContainerFiles& files, const char* runtime) {
  Buffer buffer;
  Container container{runtime, kId, "", "", "", ""};
  files.describe(container, buffer);
  for (const auto* told : {&container.name, &container.image, &container.pod_uid, &container.pod}) {
    require(to_utf8(*told) == *told && told->size() <= kLongestName, "what files tell is short, and UTF-8");
  }
}

}  // namespace

// The first line is the path of a cgroup; all of it is what each container manager wrote.
void containers(std::string_view text) {
  static const test::TemporaryDirectory directory;
  static const std::string root = directory.path();
  static const std::string paths[] = {
      root + "/var/lib/docker/containers/" + kId + "/config.v2.json",
      root + "/var/lib/containers/storage/overlay-containers/containers.json",
      root + "/run/containers/storage/overlay-containers/" + kId + "/userdata/config.json",
      root + "/run/containerd/io.containerd.runtime.v2.task/k8s.io/" + kId + "/config.json"};
  const std::string_view cgroup = text.substr(0, text.find('\n'));
  const Container container = container_in(cgroup);
  require(container.runtime.empty() == container.key.empty(), "a container has a runtime and a key");
  require(container_of(cgroup) == container_label(container), "a label is of the container");
  for (const std::string& path : paths) write_file(path, text);
  const ContainerFiles files(root);
  for (const char* runtime : {"docker", "podman", "cri-o", "containerd"}) require_described(files, runtime);
}

}  // namespace memoir::fuzz
