#include "model/container.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "model/cgroup_path.h"

namespace memoir {
namespace {

constexpr std::size_t kShownDigits = 12;
constexpr std::size_t kWholeId = 64;

struct Scheme {
  std::string_view mark;
  std::string_view runtime;
};

// With systemd as the cgroup driver, a container is a scope: "docker-ID.scope". Podman without systemd uses
// "libpod-ID".
constexpr std::array kPrefixes{Scheme{"docker-", "docker"}, Scheme{"libpod-", "podman"},
                               Scheme{"cri-containerd-", "containerd"}, Scheme{"nerdctl-", "containerd"},
                               Scheme{"crio-", "cri-o"}};

// Without systemd, the path is a folder of the manager and the bare id: "/docker/ID". "k8s.io" and "moby" are
// namespaces of containerd.
constexpr std::array kFolders{Scheme{"docker", "docker"}, Scheme{"k8s.io", "containerd"}, Scheme{"moby", "containerd"},
                              Scheme{"default", "containerd"}};

bool is_id(std::string_view text, std::size_t least) {
  return text.size() >= least && text.size() <= kWholeId &&
         std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

Container named(std::string_view runtime, std::string_view key) {
  Container container;
  container.runtime = runtime;
  container.key = key;
  return container;
}

// systemd escapes characters that a unit name cannot contain as \xNN (systemd.unit(5)); in machine names only '-'.
std::string without_escapes(std::string_view name) {
  constexpr std::string_view dash = "\\x2d";
  std::string text(name);
  for (std::size_t at = text.find(dash); at != std::string::npos; at = text.find(dash, at + 1)) {
    text.replace(at, dash.size(), "-");
  }
  return text;
}

// Returns the text between `begin` and `end` if `part` starts and ends with them; otherwise an empty text.
std::string_view between(std::string_view part, std::string_view begin, std::string_view end) {
  if (part.size() <= begin.size() + end.size() || !part.starts_with(begin) || !part.ends_with(end)) return {};
  return part.substr(begin.size(), part.size() - begin.size() - end.size());
}

Container machine(std::string_view part) {
  if (const auto name = between(part, "systemd-nspawn@", ".service"); !name.empty())
    return named("nspawn", without_escapes(name));
  const std::string name = without_escapes(between(part, "machine-", ".scope"));
  const bool other = name.empty() || name.starts_with("qemu-") || name.starts_with("lxc-");  // machines of libvirt
  return other ? Container() : named("nspawn", name);
}

// LXC names its cgroups "lxc.payload.NAME"; older releases and Proxmox use "lxc/NAME".
Container lxc(std::string_view part, std::string_view parent) {
  if (const auto name = between(part, "lxc.payload.", ""); !name.empty()) return named("lxc", name);
  return parent == "lxc" ? named("lxc", part) : Container();
}

Container by_id(std::string_view part, std::string_view parent, bool pod) {
  const auto runtime = [pod](std::string_view name) { return pod ? std::string_view("kubernetes") : name; };
  std::string_view name = part;
  if (name.ends_with(".scope")) name.remove_suffix(std::string_view(".scope").size());
  for (const Scheme& scheme : kPrefixes) {
    const std::string_view id = between(name, scheme.mark, "");
    if (is_id(id, kShownDigits)) return named(runtime(scheme.runtime), id);
  }
  // "kubepods-podX.slice:cri-containerd:ID", if the kubelet and the manager use different cgroup drivers
  const std::string_view id = name.substr(name.rfind(':') + 1);
  if (!is_id(id, kWholeId)) return {};
  for (const Scheme& scheme : kFolders) {
    if (parent == scheme.mark) return named(runtime(scheme.runtime), id);
  }
  for (const Scheme& scheme : kPrefixes) {
    const std::string_view mark = scheme.mark.substr(0, scheme.mark.size() - 1);
    if (part.find(":" + std::string(mark) + ":") != std::string_view::npos) return named(runtime(scheme.runtime), id);
  }
  return named(runtime("container"), id);
}

// Returns the UID in "kubepods-burstable-pod12ab_34cd.slice", or in "pod12ab-34cd" without systemd. Empty if `part` is
// no pod.
std::string pod_uid(std::string_view part) {
  constexpr std::string_view mark = "-pod";
  part = part.substr(0, part.find(".slice"));
  const std::size_t at = part.find(mark);
  if (at == std::string_view::npos && !part.starts_with("pod")) return {};
  std::string uid(part.substr(at == std::string_view::npos ? mark.size() - 1 : at + mark.size()));
  std::ranges::replace(uid, '_', '-');  // a slice's name uses dashes to separate levels
  return uid;
}

}  // namespace

void visit_components(std::string_view cgroup, const VisitComponent& visit) {
  std::string_view parent;
  std::string pod;
  bool in_pods = false;
  while (!cgroup.empty()) {
    const std::string_view part = cut(cgroup, '/');
    if (part.empty()) continue;
    in_pods = in_pods || part.starts_with("kubepods");
    if (std::string uid = in_pods ? pod_uid(part) : std::string(); !uid.empty()) pod = std::move(uid);
    Container found;
    for (Container& container : std::array{by_id(part, parent, in_pods), lxc(part, parent), machine(part)}) {
      if (container.runtime.empty()) continue;
      found = std::move(container);
      if (in_pods) found.pod_uid = pod;
    }
    visit(part, found);
    parent = part;
  }
}

Container container_in(std::string_view cgroup) {
  Container innermost;
  visit_components(cgroup, [&innermost](std::string_view, const Container& container) {
    if (!container.runtime.empty()) innermost = container;
  });
  return innermost;
}

std::string container_label(const Container& container) {
  if (container.runtime.empty()) return {};
  const bool by_name = container.runtime == "lxc" || container.runtime == "nspawn";
  return container.runtime + ":" + (by_name ? container.key : container.key.substr(0, kShownDigits));
}

std::string container_of(std::string_view cgroup) {
  return container_label(container_in(cgroup));
}

}  // namespace memoir
