#include "proc/cgroup_fs.h"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "base/text.h"
#include "model/cgroup.h"
#include "proc/mountinfo.h"

namespace memoir {
namespace {

// The name of a file in each version of cgroups; nullptr if the version has no such file.
struct FileNames {
  const char* v2 = nullptr;
  const char* v1 = nullptr;
};

// In the order of CgroupFile.
constexpr std::array<FileNames, kCgroupFiles> kFileNames{{
    {"memory.current", "memory.usage_in_bytes"},
    {"memory.stat", "memory.stat"},
    {"memory.swap.current", nullptr},
    {nullptr, "memory.kmem.usage_in_bytes"},
    {"memory.max", "memory.limit_in_bytes"},
    {"memory.high", nullptr},
    {"memory.swap.max", nullptr},
    {"memory.min", nullptr},
    {"memory.low", nullptr},
    {"memory.peak", "memory.max_usage_in_bytes"},
    {"memory.swap.peak", nullptr},
    {"memory.events", "memory.oom_control"},
    {"memory.events.local", nullptr},
    {nullptr, "memory.failcnt"},
    {"memory.pressure", nullptr},
}};

bool leaves_the_tree(std::string_view path) {
  return !path.starts_with('/') || path.ends_with("/..") || path.find("/../") != std::string_view::npos;
}

bool exists(const std::string& path) {
  return ::access(path.c_str(), F_OK) == 0;
}

}  // namespace

CgroupFs::CgroupFs(std::string root, std::string_view mounts) : root_(std::move(root)) {
  const std::string memory = root_ + "/memory";
  const std::string unified = root_ + "/unified";
  v1_ = exists(memory + "/memory.limit_in_bytes");
  if (v1_) {
    root_ = memory;
  } else if (!exists(root_ + "/cgroup.controllers") && exists(unified + "/cgroup.controllers")) {
    root_ = unified;
  }
  top_ = escape_bytes(mounted_at(mounts, root_).value_or("/"));
  if (leaves_the_tree(top_)) top_.clear();
  struct statfs found {};
  real_ = !v1_ && ::statfs(root_.c_str(), &found) == 0 && found.f_type == CGROUP2_SUPER_MAGIC;
}

const char* CgroupFs::name_of(CgroupFile file) const {
  const FileNames& names = kFileNames.at(static_cast<std::size_t>(file));
  return v1_ ? names.v1 : names.v2;
}

Result<Fd> CgroupFs::open(std::string_view path, CgroupFile file) const {
  const char* const name = name_of(file);
  const auto folder_path = name == nullptr ? std::nullopt : folder(path);
  if (!folder_path) return Error{ErrorKind::not_found, "cgroup: has no such file"};
  const std::string full = *folder_path + name;
  const bool resets = real_ && (file == CgroupFile::peak || file == CgroupFile::swap_peak);
  Fd fd(resets ? ::open(full.c_str(), O_RDWR | O_CLOEXEC | O_NOCTTY) : -1);
  if (fd) return fd;
  return open_file(full);
}

// The kernel resets the peak when any text is written.
Status CgroupFs::reset_peak(const Fd& peak) const {
  if (!real_) return Error{ErrorKind::denied, "cgroup: its peak must not be reset"};
  if (::pwrite(peak.get(), "reset", 5, 0) > 0) return Done{};
  return Error{errno == ENODEV ? ErrorKind::not_found : ErrorKind::denied, "cgroup: its peak cannot be reset"};
}

std::optional<std::string> CgroupFs::folder(std::string_view path) const {
  if (top_.empty() || leaves_the_tree(path) || !is_in_cgroup(path, top_)) return std::nullopt;
  if (top_ != "/") path.remove_prefix(top_.size());
  std::string full = root_ + unescape_bytes(path);
  if (!full.ends_with('/')) full += '/';
  return full;
}

Result<std::uint64_t> CgroupFs::number(std::string_view path) const {
  const auto full = folder(path);
  if (!full) return Error{ErrorKind::not_found, "cgroup: is not below the root"};
  struct stat found {};
  if (::stat(full->c_str(), &found) != 0) return errno_error(errno, "inspect", *full);
  return static_cast<std::uint64_t>(found.st_ino);
}

std::vector<std::string> CgroupFs::children(std::string_view path) const {
  std::vector<std::string> names;
  const auto full = folder(path);
  if (!full) return names;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(*full, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code unknown;
    if (entry->is_directory(unknown) && !entry->is_symlink(unknown))
      names.push_back(escape_bytes(entry->path().filename().native()));
  }
  return names;
}

}  // namespace memoir
