#pragma once

#include <optional>
#include <string>

#include "model/tmpfs.h"

namespace memoir::query {

// Returns a warning if the walk of a tmpfs was not complete, so that its numbers are unreliable.
std::optional<std::string> walk_warning(const TmpfsSample& sample);

// Returns "/run/a/b" for the mount "/run" and the entry "a/b".
std::string full_path(const TmpfsSample& mount, const TmpfsEntry& entry);

}  // namespace memoir::query
