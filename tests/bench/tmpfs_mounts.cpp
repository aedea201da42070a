#include "tmpfs_mounts.h"

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <utility>

#include "bench/cost.h"
#include "collect/tmpfs/walk.h"

namespace memoir::bench {

namespace fs = std::filesystem;

TmpfsMounts::TmpfsMounts(int files) {
  const std::string root = "/dev/shm/memoir-bench-" + std::to_string(::getpid());
  for (int i = 0; i < kMounts; ++i) {
    const std::string path = root + '-' + std::to_string(i);
    fs::create_directory(path);
    real_ = ::mount("tmpfs", path.c_str(), "tmpfs", 0, "size=1g") == 0 && real_;
    struct stat status {};
    for (int file = 0; file < files; ++file) {
      const std::string folder = path + "/d" + std::to_string(file % 100);
      fs::create_directory(folder);
      std::ofstream(folder + "/f" + std::to_string(file)) << std::string(file % 200 == 0 ? 100'000 : 10, 'x');
    }
    if (::stat(path.c_str(), &status) != 0) throw std::runtime_error("no folder in /dev/shm");
    mounts_.push_back({major(status.st_dev), minor(status.st_dev), path});
  }
}

TmpfsMounts::~TmpfsMounts() {
  for (const TmpfsMount& mount : mounts_) {
    if (::umount2(mount.mount_point.c_str(), MNT_DETACH) != 0) static_cast<void>(0);
    fs::remove_all(mount.mount_point);
  }
}

void TmpfsTicks::take(Tick& tick) {
  look(tick);
  if (const auto mount = plan_.next_walk({}, tick.begin.boot_ms)) walk(*mount, tick);
  tick.tmpfs = plan_.report(tick.keyframe);
  moved_kib_ += moves_.kib;
}

void TmpfsTicks::look(const Tick& tick) {
  std::vector<TmpfsPlan::Reading> readings;
  scan_us_ += cost_us([&] {
    for (const TmpfsMount& mount : mounts_.list()) readings.push_back({mount, tmpfs_room(mount)});
  });
  for (TmpfsPlan::Reading& reading : readings) {
    if (reading.room && reading.room->used_kib) *reading.room->used_kib += moved_kib_;
  }
  plan_.see(std::move(readings), tick.begin.boot_ms);
}

void TmpfsTicks::walk(const TmpfsMount& mount, const Tick& tick) {
  walk_us_ += cost_us([&] {
    TmpfsTree tree = walk_tmpfs(mount, WalkLimits());
    for (std::size_t at = 0; at < tree.largest.size(); at += moves_.one_of)
      tree.largest[at].allocated_kib += moved_kib_;
    plan_.take(mount, std::move(tree), tick.begin.wall_ms);
  });
  ++walks_;
}

}  // namespace memoir::bench
