#include "proc/tmpfs.h"

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>

namespace memoir {

std::optional<TmpfsUsage> tmpfs_room(const TmpfsMount& mount) {
  struct stat place {};
  if (::stat(mount.mount_point.c_str(), &place) != 0) return std::nullopt;
  if (major(place.st_dev) != mount.major || minor(place.st_dev) != mount.minor) return std::nullopt;
  struct statfs space {};
  if (::statfs(mount.mount_point.c_str(), &space) != 0 || space.f_type != TMPFS_MAGIC) return std::nullopt;
  const auto kib = [&space](std::uint64_t blocks) {
    return static_cast<std::int64_t>(blocks * static_cast<std::uint64_t>(space.f_bsize) / 1024);
  };
  TmpfsUsage room;
  if (space.f_blocks > 0) {
    room.limit_kib = kib(space.f_blocks);
    room.used_kib = kib(space.f_blocks - space.f_bfree);
  }
  if (space.f_files > 0) room.inodes = static_cast<std::int64_t>(space.f_files - space.f_ffree);
  return room;
}

}  // namespace memoir
