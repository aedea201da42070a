#include "store/write/run_log.h"

#include <SQLiteCpp/Database.h>
#include <fmt/format.h>

#include "base/text.h"
#include "store/replay/tick_cursor.h"
#include "store/replay/tick_stamps.h"

namespace memoir {
bool end_unclean_runs(SQLite::Database& database) {
  Statement(database,
            "UPDATE run SET stop_reason = 'unclean', stopped_ms = COALESCE((SELECT n.last_tick_ms FROM run_named AS n "
            "WHERE n.id = run.id), started_ms) WHERE stopped_ms IS NULL")
      .finish();
  return database.getChanges() > 0;
}

std::optional<LastRun> last_run(SQLite::Database& database) {
  Statement run(database, "SELECT id, pid, stop_reason FROM run ORDER BY id DESC LIMIT 1");
  if (!run.step()) return std::nullopt;
  LastRun last{run.integer(1), run.text(2), false, std::nullopt};
  const std::int64_t tick_id = last_tick_id(database);
  TickStamps marks(database, tick_id, tick_id);
  if (marks.step()) last.last_tick = marks.mark();
  last.has_tick = last.last_tick && last.last_tick->run_id == run.integer(0);
  return last;
}

std::int64_t store_boot(SQLite::Database& database, const BootInfo& boot) {
  Statement(database,
            "INSERT INTO boot (boot_uuid, started_ms, host, kernel) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING")
      .run(boot.boot_id, boot.boot_ms, boot.host, boot.kernel);
  return one(database, "SELECT id FROM boot WHERE boot_uuid = ?", boot.boot_id).value();
}

std::int64_t insert_run(SQLite::Database& database, std::int64_t boot_id, const RunInfo& run) {
  return Statement(database,
                   "INSERT INTO run (boot_id, started_ms, pid, version, interval_ms, census, first_tick_id) "
                   "VALUES (?, ?, ?, ?, ?, NULLIF(?, ''), (SELECT COALESCE(MAX(id), 0) + 1 FROM tick))")
      .insert(boot_id, run.started.wall_ms, run.pid, run.version, run.interval_ms, run.census);
}

std::string end_of_path(std::string_view path, std::size_t most) {
  return path.size() <= most ? std::string(path) : "…" + to_utf8(path.substr(path.size() - most));
}

std::int64_t insert_event(SQLite::Database& database, std::int64_t run_id, const Event& event,
                          std::string_view detail) {
  return Statement(database,
                   "INSERT INTO event (run_id, wall_ms, boot_ms, kind, text, detail) VALUES (?, ?, ?, ?, ?, "
                   "NULLIF(?, ''))")
      .insert(run_id, event.at.wall_ms, event.at.boot_ms, event.kind, event.text, detail);
}

void store_odd_lines(SQLite::Database& database, std::int64_t run_id, const Tick& tick) {
  for (const OddLine& odd : tick.odd_lines.kinds())
    Statement(database,
              "INSERT INTO odd_line (run_id, file, key, problem, lines, first_ms, last_ms) "
              "SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?6 WHERE (SELECT COUNT(*) FROM odd_line WHERE run_id = ?1) < 32 "
              "OR EXISTS (SELECT 1 FROM odd_line WHERE run_id = ?1 AND file = ?2 AND key = ?3) "
              "ON CONFLICT DO UPDATE SET lines = lines + excluded.lines, last_ms = excluded.last_ms")
        .run(run_id, odd.file, odd.key, odd.problem, odd.count, tick.begin.wall_ms);
}

void end_run(SQLite::Database& database, std::int64_t run_id, std::int64_t stopped_ms, const std::string& reason) {
  Statement(database, "UPDATE run SET stopped_ms = ?2, stop_reason = ?3 WHERE id = ?1").run(run_id, stopped_ms, reason);
}

void insert_break_events(SQLite::Database& database, const LastRun& last, std::int64_t run_id, std::int64_t boot_id,
                         const Moment& started) {
  if (last.stop_reason == "unclean") {
    const std::string until =
        last.has_tick ? "; its last tick was at " + utc(last.last_tick->wall_ms) : ", before its first tick";
    insert_event(database, run_id,
                 {started, "unclean", fmt::format("memoird ({}) stopped without closing its run{}", last.pid, until)});
  }
  if (!last.last_tick) return;
  const TickStamp& before = *last.last_tick;
  const TickStamp now{started.wall_ms, started.boot_ms, run_id, boot_id, before.interval_ms, 0, {}};
  if (!is_gap(before, now)) return;
  insert_event(database, run_id,
               {started, "gap",
                fmt::format("Nothing was recorded from {} to {}: {}", utc(before.wall_ms), utc(started.wall_ms),
                            gap_reason(before, now))});
}

}  // namespace memoir
