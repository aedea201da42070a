#pragma once

#include <optional>
#include <string>

#include "model/tmpfs.h"

namespace memoir::query {

// What a reader must know of the walk of a tmpfs to trust its numbers.
std::optional<std::string> walk_warning(const TmpfsSample& sample);

// "/run" and "a/b": "/run/a/b".
std::string full_path(const TmpfsSample& mount, const TmpfsEntry& entry);

}  // namespace memoir::query
