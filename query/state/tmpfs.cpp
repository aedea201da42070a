#include "query/state/tmpfs.h"

#include <fmt/format.h>

#include "query/report/format.h"

namespace memoir::query {

std::optional<std::string> walk_warning(const TmpfsSample& sample) {
  const std::string& mount = sample.mount_point;
  if (sample.walk == TmpfsWalk::not_read)
    return fmt::format("{}: not read: no permission, hidden, or not responding", mount);
  if (sample.walk != TmpfsWalk::cut) return std::nullopt;
  if (sample.content.closed == 0) {
    return fmt::format("{}: partial walk: too many entries, too deep or too slow", mount);
  }
  return fmt::format("{}: {} cannot be entered; their entries are not counted", mount,
                     format_count(sample.content.closed, "directory", "directories"));
}

std::string full_path(const TmpfsSample& mount, const TmpfsEntry& entry) {
  if (entry.path.empty()) return mount.mount_point;
  return mount.mount_point == "/" ? '/' + entry.path : mount.mount_point + '/' + entry.path;
}

}  // namespace memoir::query
