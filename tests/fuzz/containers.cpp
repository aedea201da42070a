#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

#include "base/file.h"
#include "collect/container/container_files.h"
#include "fuzz/require.h"
#include "fuzz/targets.h"
#include "support/temporary_directory.h"

namespace memoir::fuzz {
namespace {

constexpr const char* kId = "3f2a4b5c6d7e3f2a4b5c6d7e3f2a4b5c6d7e3f2a4b5c6d7e3f2a4b5c6d7e3f2a";
constexpr std::size_t kLongestName = 1024;

Fd make_file(const std::string& path) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  return Fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
}

void write_all(const Fd& file, std::string_view text) {
  const bool written = ::pwrite(file.get(), text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
  require(written && ::ftruncate(file.get(), static_cast<off_t>(text.size())) == 0, "the file is written");
}

void require_described(const std::string& root, const char* runtime) {
  Buffer buffer;
  Container container{runtime, kId, "", "", "", ""};
  describe_container(root, container, buffer);
  for (const auto* field : {&container.name, &container.image, &container.pod_uid, &container.pod}) {
    require(to_utf8(*field) == *field && field->size() <= kLongestName, "text from files is short and UTF-8");
  }
}

}  // namespace

// The first line is the path of a cgroup; the text is also the content of each container manager's file.
void containers(std::string_view text) {
  static const test::TemporaryDirectory directory;
  static const std::string root = directory.path();
  static const Fd written[] = {
      make_file(root + "/var/lib/docker/containers/" + kId + "/config.v2.json"),
      make_file(root + "/var/lib/containers/storage/overlay-containers/containers.json"),
      make_file(root + "/run/containers/storage/overlay-containers/" + kId + "/userdata/config.json"),
      make_file(root + "/run/containerd/io.containerd.runtime.v2.task/k8s.io/" + kId + "/config.json")};
  const std::string_view cgroup = text.substr(0, text.find('\n'));
  const Container container = container_in(cgroup);
  require(container.runtime.empty() == container.key.empty(), "a container has a runtime and a key");
  require(container_of(cgroup) == container_label(container), "the label belongs to the container");
  for (const Fd& file : written) write_all(file, text);
  for (const char* runtime : {"docker", "podman", "cri-o", "containerd"}) require_described(root, runtime);
}

}  // namespace memoir::fuzz
