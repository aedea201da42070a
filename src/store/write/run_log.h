#pragma once

// Boots, runs and events.

#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "store/replay/coverage.h"
#include "store/sqlite/statement.h"
#include "store/types.h"

namespace memoir {

// The state before the run that starts.
struct LastRun {
  std::int64_t pid = 0;
  std::string stop_reason;
  bool has_tick = false;
  std::optional<TickStamp> last_tick;  // of any run: this one may have crashed before its first
};

// Ends every run that was left open with its last tick, as unclean. Returns whether there was one.
bool end_unclean_runs(SQLite::Database& database);
std::optional<LastRun> last_run(SQLite::Database& database);

std::int64_t store_boot(SQLite::Database& database, const BootInfo& boot);
std::int64_t insert_run(SQLite::Database& database, std::int64_t boot_id, const RunInfo& run);
// Creators of cgroups choose the length of their paths, and events are kept for long.
std::string end_of_path(std::string_view path, std::size_t most = 256);

// `detail`: JSON, or empty. Returns the id of the row.
std::int64_t insert_event(SQLite::Database& database, std::int64_t run_id, const Event& event,
                          std::string_view detail = {});
// At most 32 kinds in a run: others only count in the tick.
void store_odd_lines(SQLite::Database& database, std::int64_t run_id, const Tick& tick);
void end_run(SQLite::Database& database, std::int64_t run_id, std::int64_t stopped_ms, const std::string& reason);

// Inserts events for the time between `last` and the run that starts: an unclean end, and a gap.
void insert_break_events(SQLite::Database& database, const LastRun& last, std::int64_t run_id, std::int64_t boot_id,
                         const Moment& started);

}  // namespace memoir
