#include "store/rows/limit_episode_json.h"

#include <algorithm>

namespace memoir {
namespace {

constexpr const char* kEpisodes =
    "SELECT kind, detail->>'subject', run_id, detail->>'from_ms', detail->>'at_ms', detail->>'to_ms', "
    "detail->>'times', detail->>'waited_us', detail->>'used_kib', detail->>'limit_kib', detail->>'cache_kib' "
    "FROM event WHERE kind IN ('limit', 'throttled', 'tmpfs-full') AND json_valid(detail) "
    "AND detail->>'from_ms' <= ?2 AND COALESCE(detail->>'to_ms', ?1) >= ?1 "
    "ORDER BY detail->>'from_ms' DESC, id DESC LIMIT 2000";

}  // namespace

std::string episode_json(SQLite::Database& database, const LimitEpisode& of) {
  Statement object(database,
                   "SELECT json_object('subject', ?, 'from_ms', ?, 'at_ms', ?, 'to_ms', ?, 'times', ?, 'waited_us', ?, "
                   "'used_kib', ?, 'limit_kib', ?, 'cache_kib', ?)");
  return object.one_text(of.subject, of.from_ms, of.at_ms, of.to_ms, of.times, of.waited_us, of.used_kib, of.limit_kib,
                         of.cache_kib);
}

std::vector<LimitEpisode> read_limit_episodes(SQLite::Database& database, Range range) {
  const auto read = [](const Statement& row) {
    const std::string kind = row.text(0);
    const auto place = std::ranges::find(kLimitKinds, std::string_view(kind));
    return LimitEpisode{.kind = static_cast<LimitKind>(place - kLimitKinds.begin()),
                        .subject = row.name(1),
                        .run_id = row.integer(2),
                        .from_ms = row.integer(3),
                        .at_ms = row.integer(4),
                        .to_ms = row.maybe(5),
                        .times = row.integer(6),
                        .waited_us = row.maybe(7),
                        .used_kib = row.maybe(8),
                        .limit_kib = row.maybe(9),
                        .cache_kib = row.maybe(10)};
  };
  std::vector<LimitEpisode> episodes = every(database, kEpisodes, read, range.from_ms, range.to_ms);
  std::ranges::reverse(episodes);
  return episodes;
}

}  // namespace memoir
