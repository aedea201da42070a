#include "store/rollup/activity.h"

#include <fmt/format.h>

#include "store/sqlite/statement.h"

namespace memoir {

std::string tick_activity_sql(std::int64_t width_ms, const std::string& condition) {
  // SQLite takes columns without an aggregate from the row with the MAX(), which is the last tick.
  return fmt::format(
      "SELECT bucket, ticks, reported_ticks, lost_events, started, exited, short_lived, alive, oom_kills FROM ("
      "SELECT (wall_ms - 1) / {} AS bucket, COUNT(*) AS ticks, COUNT(exits) AS reported_ticks, "
      "COALESCE(SUM(lost_events), 0) AS lost_events, SUM(started) AS started, SUM(exited) AS exited, "
      "SUM(short_lived) AS short_lived, alive, SUM(oom_kills) AS oom_kills, MAX(id) "
      "FROM tick WHERE {} GROUP BY 1)",
      width_ms, condition);
}

std::string rolled_activity_sql(const TierShape& shape) {
  return fmt::format(
      "SELECT {0} * {1} + slot AS bucket, ticks, reported_ticks, lost_events, started, exited, short_lived, alive, "
      "oom_kills FROM activity_{2} WHERE {0} BETWEEN ?1 / {1} AND ?2 / {1} AND {0} * {1} + slot BETWEEN ?1 AND ?2 "
      "ORDER BY {0}, slot",
      shape.block, shape.slots, shape.name);
}

void roll_up_activity(SQLite::Database& database, const TierShape& shape, std::int64_t first, std::int64_t end) {
  const std::string sums = tick_activity_sql(shape.width_ms, "id >= ?1 AND id < ?2");
  Statement(database,
            fmt::format("INSERT INTO activity_{0} ({1}, slot, ticks, reported_ticks, lost_events, started, exited, "
                        "short_lived, alive, oom_kills) "
                        "SELECT bucket / {2}, bucket % {2}, ticks, reported_ticks, lost_events, started, exited, "
                        "short_lived, alive, oom_kills FROM ({3}) WHERE true "
                        "ON CONFLICT DO UPDATE SET ticks = ticks + excluded.ticks, "
                        "reported_ticks = reported_ticks + excluded.reported_ticks, "
                        "lost_events = lost_events + excluded.lost_events, started = started + excluded.started, "
                        "exited = exited + excluded.exited, short_lived = short_lived + excluded.short_lived, "
                        "alive = excluded.alive, "
                        "oom_kills = COALESCE(oom_kills + excluded.oom_kills, excluded.oom_kills, oom_kills)",
                        shape.name, shape.block, shape.slots, sums))
      .run(first, end);
}

}  // namespace memoir
