#pragma once

// Episodes at limits of cgroups and tmpfs mounts, as long as events are kept.

#include <vector>

#include "base/result.h"
#include "store/limit_episode.h"
#include "store/reader.h"

namespace memoir {

// Returns the latest 2,000 episodes that touch the range, sorted by start.
Result<std::vector<LimitEpisode>> load_limit_episodes(Reader& reader, Range range);

}  // namespace memoir
