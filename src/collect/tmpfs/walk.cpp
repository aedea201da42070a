#include "collect/tmpfs/walk.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <limits>
#include <memory>
#include <string_view>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"

namespace memoir {
namespace {

constexpr std::int64_t kBlock = 512;  // unit of st_blocks in any file system
constexpr std::int64_t kClockEvery = 64;
constexpr std::int64_t kLastSecond = 253'402'300'799;  // end of the year 9999; the owner of a file can set any time

std::int64_t plus(std::int64_t a, std::int64_t b) {
  return a > std::numeric_limits<std::int64_t>::max() - b ? std::numeric_limits<std::int64_t>::max() : a + b;
}

std::int64_t changed_ms(const struct stat& status) {
  return std::clamp<std::int64_t>(status.st_mtim.tv_sec, 0, kLastSecond) * 1000 + status.st_mtim.tv_nsec / 1'000'000;
}

// Bytes and entries of a file, or of everything below a directory.
struct Held {
  std::int64_t allocated = 0;
  std::int64_t logical = 0;
  std::int64_t entries = 0;
  std::int64_t changed_ms = 0;

  void add(const Held& other) {
    allocated = plus(allocated, other.allocated);
    logical = plus(logical, other.logical);
    entries += other.entries;
    changed_ms = std::max(changed_ms, other.changed_ms);
  }
};

Held held_by(const struct stat& status) {
  return {static_cast<std::int64_t>(status.st_blocks) * kBlock, status.st_size, 1, changed_ms(status)};
}

// Keeps the largest entries of one kind.
class Largest {
 public:
  Largest(std::size_t most, const WalkLimits& limits) : most_(most), limits_(limits) {}

  void offer(std::string_view path, bool directory, const Held& held, std::uint32_t uid) {
    const std::int64_t kib = held.allocated / 1024;
    if (kib < limits_.min_kib || path.size() > limits_.path_bytes || most_ == 0) return;
    if (kept_.size() == most_) {
      if (kib <= kept_.front().allocated_kib) return;
      std::ranges::pop_heap(kept_, std::greater(), &TmpfsEntry::allocated_kib);
      kept_.pop_back();
    }
    kept_.push_back({to_utf8(path), directory, kib, held.logical / 1024, held.entries, uid, held.changed_ms});
    std::ranges::push_heap(kept_, std::greater(), &TmpfsEntry::allocated_kib);
  }

  void move_to(std::vector<TmpfsEntry>& entries) {
    entries.insert(entries.end(), std::make_move_iterator(kept_.begin()), std::make_move_iterator(kept_.end()));
  }

 private:
  const std::size_t most_;
  const WalkLimits& limits_;
  std::vector<TmpfsEntry> kept_;  // a heap with the smallest entry first
};

struct Closer {
  void operator()(DIR* directory) const { ::closedir(directory); }
};
using Directory = std::unique_ptr<DIR, Closer>;

// Opens a directory. If permitted, its access time stays unchanged, because programs that delete old files use it.
Directory open_directory(int parent, const char* name) {
  constexpr int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
  Fd fd(::openat(parent, name, flags | O_NOATIME));
  if (!fd && errno == EPERM) fd = Fd(::openat(parent, name, flags));
  Directory directory(fd ? ::fdopendir(fd.get()) : nullptr);
  if (directory != nullptr) fd.release();
  return directory;
}

class Walker {
 public:
  Walker(const TmpfsMount& mount, const WalkLimits& limits)
      : mount_(mount), limits_(limits), directories_(limits.directories, limits), files_(limits.files, limits) {}

  TmpfsTree walk() {
    if (begin()) {
      while (!levels_.empty() && !over()) step();
      tree_.walk = tree_.problem.empty() ? TmpfsWalk::whole : TmpfsWalk::cut;
      while (!levels_.empty()) leave();
      finish();
    }
    tree_.cpu_us = thread_cpu_us() - began_cpu_us_;
    return std::move(tree_);
  }

 private:
  // A directory that is being read.
  struct Level {
    Directory directory;
    std::size_t path_size = 0;
    Held held;
    std::uint32_t uid = 0;
    bool mounted_on = false;  // one of its entries is a mount point
  };

  bool ours(const struct stat& status) const {
    return major(status.st_dev) == mount_.major && minor(status.st_dev) == mount_.minor;
  }
  void complain(std::string problem) {
    if (tree_.problem.empty()) tree_.problem = std::move(problem);
  }
  bool begin();
  bool over();
  void step();
  void visit(const char* name);
  void enter(const char* name, const struct stat& found);
  void push(Directory directory, const struct stat& status);
  void leave();
  void finish();
  void count(const struct stat& status);
  bool has_mount_points() const;

  const TmpfsMount& mount_;
  const WalkLimits& limits_;
  const std::int64_t began_us_ = steady_us();
  const std::int64_t began_cpu_us_ = thread_cpu_us();
  TmpfsTree tree_;
  Held all_;
  std::int64_t visited_ = 0;
  std::string path_;  // current path, relative to the mount point
  std::vector<Level> levels_;
  std::unordered_set<ino_t> linked_;  // inodes with several names that were already counted
  Largest directories_;
  Largest files_;
};

bool Walker::begin() {
  Directory root = open_directory(AT_FDCWD, mount_.mount_point.c_str());
  struct stat status {};
  if (root == nullptr || ::fstat(::dirfd(root.get()), &status) != 0) {
    tree_.problem = std::strerror(errno);
    return false;
  }
  if (!ours(status)) {
    tree_.problem = "another mount hides it";
    return false;
  }
  push(std::move(root), status);
  return true;
}

bool Walker::over() {
  if (visited_ >= limits_.entries) complain(fmt::format("it has more than {} entries", limits_.entries));
  if (visited_ >= limits_.entries) return true;
  if (visited_ % kClockEvery != 0) return false;
  const std::int64_t max_us = limits_.time / std::chrono::microseconds(1);
  const bool late = steady_us() - began_us_ >= max_us || thread_cpu_us() - began_cpu_us_ >= max_us;
  if (late) complain(fmt::format("it takes more than {} ms", limits_.time.count()));
  return late;
}

void Walker::step() {
  Level& level = levels_.back();
  const dirent* entry = ::readdir(level.directory.get());
  if (entry == nullptr) return leave();
  const std::string_view name(entry->d_name);
  if (name == "." || name == "..") return;
  ++visited_;
  path_.resize(level.path_size);
  if (!path_.empty()) path_ += '/';
  path_ += name;
  const bool mount_point = level.mounted_on && std::ranges::binary_search(mount_.mounted_on, path_);
  if (!mount_point) visit(entry->d_name);
}

void Walker::visit(const char* name) {
  struct stat status {};
  const int parent = ::dirfd(levels_.back().directory.get());
  if (::fstatat(parent, name, &status, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) != 0 || !ours(status)) return;
  if (S_ISDIR(status.st_mode)) return enter(name, status);
  if (status.st_nlink > 1 && !linked_.insert(status.st_ino).second) return;
  count(status);
  const Held held = held_by(status);
  levels_.back().held.add(held);
  files_.offer(path_, false, held, status.st_uid);
}

void Walker::count(const struct stat& status) {
  TmpfsContent& content = tree_.content;
  ++content.entries;
  if (S_ISDIR(status.st_mode)) ++content.directories;
  if (S_ISLNK(status.st_mode)) ++content.symlinks;
  if (S_ISSOCK(status.st_mode)) ++content.sockets;
  if (S_ISFIFO(status.st_mode)) ++content.fifos;
  if (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode)) ++content.devices;
}

// Enters a directory, unless its name refers to another file by now.
void Walker::enter(const char* name, const struct stat& found) {
  count(found);
  levels_.back().held.add(held_by(found));
  if (levels_.size() >= limits_.depth) return complain(fmt::format("it is more than {} levels deep", limits_.depth));
  Directory directory = open_directory(::dirfd(levels_.back().directory.get()), name);
  if (directory == nullptr && errno == ENOENT) return;
  if (directory == nullptr) {
    ++tree_.content.closed;
    return complain(fmt::format("a directory cannot be entered: {}", std::strerror(errno)));
  }
  struct stat status {};
  if (::fstat(::dirfd(directory.get()), &status) != 0 || !ours(status) || status.st_ino != found.st_ino) return;
  push(std::move(directory), status);
}

void Walker::push(Directory directory, const struct stat& status) {
  Level level{std::move(directory), path_.size(), {}, status.st_uid, has_mount_points()};
  level.held.changed_ms = changed_ms(status);
  levels_.push_back(std::move(level));
}

void Walker::leave() {
  const Level level = std::move(levels_.back());
  levels_.pop_back();
  path_.resize(level.path_size);
  directories_.offer(path_, true, level.held, level.uid);
  (levels_.empty() ? all_ : levels_.back().held).add(level.held);
}

void Walker::finish() {
  tree_.content.allocated_kib = all_.allocated / 1024;
  tree_.content.logical_kib = all_.logical / 1024;
  directories_.move_to(tree_.largest);
  files_.move_to(tree_.largest);
  const auto name = [](const TmpfsEntry& entry) { return std::tie(entry.path, entry.directory); };
  std::ranges::sort(tree_.largest, {}, name);
  // Two names that are not UTF-8 may have become equal; only one is kept.
  const auto same = std::unique(tree_.largest.begin(), tree_.largest.end(),
                                [&](const TmpfsEntry& a, const TmpfsEntry& b) { return name(a) == name(b); });
  tree_.largest.erase(same, tree_.largest.end());
}

bool Walker::has_mount_points() const {
  const std::string prefix = path_.empty() ? path_ : path_ + '/';
  const auto first = std::ranges::lower_bound(mount_.mounted_on, prefix);
  return first != mount_.mounted_on.end() && first->starts_with(prefix);
}

}  // namespace

TmpfsTree walk_tmpfs(const TmpfsMount& mount, const WalkLimits& limits) {
  return Walker(mount, limits).walk();
}

}  // namespace memoir
