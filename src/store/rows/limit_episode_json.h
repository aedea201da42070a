#pragma once

// Episodes at a limit as the detail of an event (event.detail): JSON, written and parsed by SQLite.

#include <string>
#include <vector>

#include "store/limit_episode.h"
#include "store/sqlite/statement.h"
#include "store/types.h"

namespace memoir {

std::string episode_json(SQLite::Database& database, const LimitEpisode& episode);

// Returns the latest 2,000 episodes that touch the range, sorted by start.
std::vector<LimitEpisode> read_limit_episodes(SQLite::Database& database, Range range);

}  // namespace memoir
