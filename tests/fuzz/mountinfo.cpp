#include "proc/mountinfo.h"

#include "fuzz/require.h"
#include "fuzz/targets.h"

void memoir::fuzz::mountinfo(std::string_view text) {
  const auto mounts = parse_tmpfs_mounts(text);
  if (!mounts) return require_good(mounts.error(), text);
  for (const TmpfsMount& mount : *mounts) require(mount.mount_point.front() == '/', "a mount point is a whole path");
}
