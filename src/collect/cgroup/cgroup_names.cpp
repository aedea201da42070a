#include "collect/cgroup/cgroup_names.h"

#include <utility>

#include "model/cgroup.h"

namespace memoir {
namespace {

constexpr std::int64_t kWalkEveryMs = 60'000;
constexpr std::size_t kMaxFolders = 4'096;

}  // namespace

void CgroupNames::keep(std::uint64_t number, std::string path) {
  if (paths_.size() >= 2 * kMaxFolders) paths_.clear();
  paths_.insert_or_assign(number, std::move(path));
}

void CgroupNames::learn(std::string_view path) {
  if (path.empty()) return;
  if (const auto number = cgroups_.number(path)) keep(*number, std::string(path));
}

void CgroupNames::walk() {
  std::vector<std::string> folders{cgroups_.top()};
  for (std::size_t i = 0; i < folders.size(); ++i) {
    if (const auto number = cgroups_.number(folders[i])) keep(*number, folders[i]);
    for (const std::string& name : cgroups_.children(folders[i])) {
      if (folders.size() == kMaxFolders) break;
      std::string path = (folders[i] == "/" ? "" : folders[i]) + '/' + name;
      if (path == bounded_cgroup(path)) folders.push_back(std::move(path));
    }
  }
}

std::string CgroupNames::path(std::uint64_t number, std::int64_t boot_ms) {
  if (number == 0) return {};
  auto found = paths_.find(number);
  if (found == paths_.end() && (walked_ms_ < 0 || boot_ms - walked_ms_ >= kWalkEveryMs)) {
    walked_ms_ = boot_ms;
    walk();
    found = paths_.find(number);
  }
  return found == paths_.end() ? std::string() : found->second;
}

}  // namespace memoir
