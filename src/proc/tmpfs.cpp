#include "proc/tmpfs.h"

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>

namespace memoir {

std::optional<std::int64_t> tmpfs_used_kib(const TmpfsMount& mount) {
  struct stat place {};
  if (::stat(mount.mount_point.c_str(), &place) != 0) return std::nullopt;
  if (major(place.st_dev) != mount.major || minor(place.st_dev) != mount.minor) return std::nullopt;
  struct statfs room {};
  if (::statfs(mount.mount_point.c_str(), &room) != 0 || room.f_type != TMPFS_MAGIC) return std::nullopt;
  return static_cast<std::int64_t>((room.f_blocks - room.f_bfree) * static_cast<std::uint64_t>(room.f_bsize) / 1024);
}

}  // namespace memoir
