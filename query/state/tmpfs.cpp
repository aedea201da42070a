#include "query/state/tmpfs.h"

#include <fmt/format.h>

#include "query/report/format.h"

namespace memoir::query {

std::optional<std::string> walk_warning(const TmpfsSample& sample) {
  const std::string& mount = sample.mount_point;
  if (sample.walk == TmpfsWalk::not_read)
    return fmt::format("{}: not read: it may not be entered, is hidden, or does not answer", mount);
  if (sample.walk != TmpfsWalk::cut) return std::nullopt;
  if (sample.content.closed == 0) {
    return fmt::format(
        "{}: the walk was cut, for it has too many entries, is too deep or too slow: what was found by then", mount);
  }
  return fmt::format("{}: {} may not be entered, and what is in there is not counted", mount,
                     print_count(sample.content.closed, "directory", "directories"));
}

std::string full_path(const TmpfsSample& mount, const TmpfsEntry& entry) {
  if (entry.path.empty()) return mount.mount_point;
  return mount.mount_point == "/" ? '/' + entry.path : mount.mount_point + '/' + entry.path;
}

}  // namespace memoir::query
