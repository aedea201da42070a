#pragma once

// Finds the episodes in which a cgroup reached a limit or a tmpfs was full. Stores each as an event, which it
// updates while the episode lasts.

#include <cstdint>
#include <vector>

#include "model/tick.h"
#include "store/limit_episode.h"
#include "store/write/changed_rows.h"

namespace SQLite {
class Database;
}  // namespace SQLite

namespace memoir {

// Pauses of up to this length do not end an episode.
inline constexpr std::int64_t kEpisodePauseMs = 10 * 60 * 1000;

struct OpenEpisode {
  LimitEpisode episode;
  std::int64_t event_id = 0;  // 0: not stored, because only page cache was reclaimed or there are too many events
};

struct LimitEpisodes {
  std::vector<OpenEpisode> open;
  std::int64_t block = 0;  // number of the current block of five minutes
  std::int64_t count = 0;  // number of events inserted in that block
};

// `before` has the counters of the previous tick.
void store_limit_episodes(SQLite::Database& database, std::int64_t run_id,
                          const std::vector<StoredSample<CgroupDetail>>& before, const Tick& tick,
                          LimitEpisodes& episodes);

}  // namespace memoir
