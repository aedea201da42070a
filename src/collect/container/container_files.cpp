#include "collect/container/container_files.h"

#include <algorithm>
#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <initializer_list>
#include <memory>
#include <string_view>
#include <sys/stat.h>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/text.h"

namespace memoir {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMaxBytes = 256;                  // maximum length of a name
constexpr std::size_t kMaxOneFileBytes = 512UL * 1024;  // maximum size of a file about one container
constexpr std::size_t kMaxOfAll = 4UL * 1024 * 1024;    // maximum size of a file about all containers
constexpr int kDeepest = 4;                             // deeper levels of a file are ignored
constexpr std::size_t kMaxNames = 4096;

bool is_plain_file(const Fd& fd) {
  struct stat status {};
  return ::fstat(fd.get(), &status) == 0 && S_ISREG(status.st_mode);
}

// Reads the file at `steps` below `folder`, where other users may write. `folder` itself may be reached by symbolic
// links, but none is followed below it. Only a plain file of at most `cap` bytes is read; anything else is an error.
Result<std::string_view> read_beneath(const std::string& folder, const std::vector<std::string>& steps, Buffer& buffer,
                                      std::size_t cap) {
  constexpr int folder_flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
  constexpr int file_flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK;
  Fd at(::open(folder.c_str(), folder_flags));
  for (std::size_t i = 0; at && i < steps.size(); ++i) {
    const int flags = i + 1 == steps.size() ? file_flags : folder_flags | O_NOFOLLOW;
    at = Fd(::openat(at.get(), steps[i].c_str(), flags));
  }
  if (!at) return errno_error(errno, "open a file below", folder);
  if (!is_plain_file(at)) return Error{ErrorKind::malformed, folder + ": is not a plain file"};
  return read_all(at, buffer, folder, cap);
}

// Returns at most `most` names in a folder; empty if it is unreadable.
std::vector<std::string> names_in(const std::string& folder, std::size_t most) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> opened(::opendir(folder.c_str()), ::closedir);
  while (opened && names.size() < most) {
    const dirent* const entry = ::readdir(opened.get());
    if (entry == nullptr) break;
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  }
  return names;
}

Json parsed(std::string_view text) {
  const auto shallow = [](int depth, Json::parse_event_t, const Json&) { return depth <= kDeepest; };
  return Json::parse(text, shallow, false);
}

// Parses a JSON file of a container manager; null if it is unreadable.
Json file_beneath(const std::string& folder, const std::vector<std::string>& steps, Buffer& buffer, std::size_t cap) {
  const auto content = read_beneath(folder, steps, buffer, cap);
  return content ? parsed(*content) : Json();
}

// Returns a member of an object; null if it has none of that name.
const Json& part(const Json& of, const char* key) {
  static const Json none;
  const auto found = of.is_object() ? of.find(key) : of.end();
  return of.is_object() && found != of.end() ? *found : none;
}

// Returns a text as UTF-8, truncated; empty if the value is not a string.
std::string text(const Json& value) {
  if (!value.is_string()) return {};
  const auto& whole = value.get_ref<const std::string&>();
  // Truncation may split a character, which to_utf8() repairs.
  return to_utf8(std::string_view(whole).substr(0, kMaxBytes));
}

void fill(std::string& known, std::string found) {
  if (known.empty()) known = std::move(found);
}

// Returns the first text that is not empty among the members `keys`.
std::string first_text(const Json& of, std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    if (std::string found = text(part(of, key)); !found.empty()) return found;
  }
  return {};
}

// Fills in fields from labels or annotations of Kubernetes or of one of its runtimes.
void fill_from(Container& container, const Json& labels) {
  fill(container.name,
       first_text(labels, {"io.kubernetes.container.name", "io.kubernetes.cri.container-name", "nerdctl/name"}));
  fill(container.image, first_text(labels, {"io.kubernetes.cri-o.ImageName", "io.kubernetes.cri.image-name"}));
  const std::string space = first_text(labels, {"io.kubernetes.pod.namespace", "io.kubernetes.cri.sandbox-namespace"});
  const std::string pod = first_text(labels, {"io.kubernetes.pod.name", "io.kubernetes.cri.sandbox-name"});
  if (!space.empty() && !pod.empty()) fill(container.pod, space + "/" + pod);
  fill(container.pod_uid, first_text(labels, {"io.kubernetes.pod.uid", "io.kubernetes.cri.sandbox-uid"}));
}

// Finds a container in a list of all containers.
const Json& with_id(const Json& list, const std::string& id) {
  static const Json none;
  if (!list.is_array()) return none;
  const auto found = std::ranges::find_if(list, [&id](const Json& of) { return part(of, "id") == id; });
  return found == list.end() ? none : *found;
}

// Fills in fields from Podman's entry for the container.
void fill_from_list(Container& container, const Json& own) {
  const Json& names = part(own, "names");
  if (names.is_array() && !names.empty()) fill(container.name, text(names.front()));
  // The member is a string that contains JSON.
  const Json& metadata = part(own, "metadata");
  if (!metadata.is_string()) return;
  fill(container.image, text(part(parsed(metadata.get_ref<const std::string&>()), "image-name")));
}

// Returns the folders in containers/storage, one for each driver, such as "overlay-containers".
std::vector<std::string> folders_in(const std::string& storage) {
  std::vector<std::string> folders = names_in(storage, kMaxNames);
  std::erase_if(folders, [](const std::string& name) { return !name.ends_with("-containers"); });
  return folders;
}

void ask_docker(const std::string& root, Container& container, Buffer& buffer) {
  const Json file =
      file_beneath(root + "/var/lib/docker/containers", {container.key, "config.v2.json"}, buffer, kMaxOneFileBytes);
  const Json& config = part(file, "Config");
  fill_from(container, part(config, "Labels"));
  std::string name = text(part(file, "Name"));
  if (name.starts_with('/')) name.erase(0, 1);
  fill(container.name, std::move(name));
  fill(container.image, text(part(config, "Image")));
}

void ask_crio(const std::string& root, Container& container, Buffer& buffer) {
  for (const char* storage : {"/run/containers/storage", "/var/lib/containers/storage"}) {
    for (const std::string& folder : folders_in(root + storage)) {
      const Json file =
          file_beneath(root + storage, {folder, container.key, "userdata", "config.json"}, buffer, kMaxOneFileBytes);
      fill_from(container, part(file, "annotations"));
    }
  }
}

// Podman lists containers that are removed at their exit in a separate file.
void ask_podman(const std::string& root, Container& container, Buffer& buffer) {
  const std::string storage = root + "/var/lib/containers/storage";
  for (const std::string& folder : folders_in(storage)) {
    for (const char* list : {"containers.json", "volatile-containers.json"}) {
      const Json file = file_beneath(storage, {folder, list}, buffer, kMaxOfAll);
      fill_from_list(container, with_id(file, container.key));
    }
  }
}

void ask_containerd(const std::string& root, Container& container, Buffer& buffer) {
  const std::string tasks = root + "/run/containerd/io.containerd.runtime.v2.task";
  for (const std::string& space : names_in(tasks, kMaxNames)) {
    const Json file = file_beneath(tasks, {space, container.key, "config.json"}, buffer, kMaxOneFileBytes);
    fill_from(container, part(file, "annotations"));
  }
}

void ask_kubelet(const std::string& root, Container& container) {
  if (container.pod_uid.empty() || !container.pod.empty()) return;
  const std::string end = "_" + container.pod_uid;
  for (const std::string& folder : names_in(root + "/var/log/pods", kMaxNames)) {
    const std::size_t between = folder.find('_');
    if (!folder.ends_with(end) || between + end.size() >= folder.size()) continue;
    const std::string pod = folder.substr(between + 1, folder.size() - end.size() - between - 1);
    container.pod = to_utf8(folder.substr(0, between) + "/" + pod);
    return;
  }
}

}  // namespace

void describe_container(const std::string& root, Container& container, Buffer& buffer) {
  for (auto* const ask : {ask_docker, ask_crio, ask_podman, ask_containerd}) {
    if (container.name.empty() || container.image.empty()) ask(root, container, buffer);
  }
  ask_kubelet(root, container);
}

}  // namespace memoir
