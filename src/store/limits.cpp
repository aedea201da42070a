#include "store/limits.h"

#include "store/rows/limit_episode_json.h"

namespace memoir {

Result<std::vector<LimitEpisode>> load_limit_episodes(Reader& reader, Range range) {
  return reader.read([range](SQLite::Database& database) { return read_limit_episodes(database, range); });
}

}  // namespace memoir
