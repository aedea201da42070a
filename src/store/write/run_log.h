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

// The run before the one that starts.
struct LastRun {
  std::int64_t pid = 0;
  std::string stop_reason;
  bool has_tick = false;
  std::optional<TickStamp> last_tick;  // last tick of any run: the last run may have crashed before its first one
};

// Marks every run that was left open as unclean, with its last tick as the end. Returns whether there was one.
bool end_unclean_runs(SQLite::Database& database);
std::optional<LastRun> last_run(SQLite::Database& database);

std::int64_t store_boot(SQLite::Database& database, const BootInfo& boot);
std::int64_t insert_run(SQLite::Database& database, std::int64_t boot_id, const RunInfo& run);
// Returns the end of a path, at most `most` bytes. Any user may create cgroups with long paths, and events are kept
// for a long time.
std::string end_of_path(std::string_view path, std::size_t most = 256);

// Returns the id of the row. `detail` is JSON, or empty.
std::int64_t insert_event(SQLite::Database& database, std::int64_t run_id, const Event& event,
                          std::string_view detail = {});
// Stores at most 32 kinds of lines per run; further kinds only count in the tick.
void store_odd_lines(SQLite::Database& database, std::int64_t run_id, const Tick& tick);
void end_run(SQLite::Database& database, std::int64_t run_id, std::int64_t stopped_ms, const std::string& reason);

// Inserts events for the time between `last` and the run that starts: an unclean end, and a gap.
void insert_break_events(SQLite::Database& database, const LastRun& last, std::int64_t run_id, std::int64_t boot_id,
                         const Moment& started);

}  // namespace memoir
