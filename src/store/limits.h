#pragma once

// Episodes at limits of cgroups and tmpfs mounts, as long as events are kept.

#include <vector>

#include "base/result.h"
#include "store/limit_episode.h"
#include "store/reader.h"

namespace memoir {

// The latest 2,000 that touch the range, by their start.
Result<std::vector<LimitEpisode>> load_limit_episodes(Reader& reader, Range range);

}  // namespace memoir
