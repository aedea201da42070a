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

// What there was before the run that begins.
struct LastRun {
  std::int64_t pid = 0;
  std::string end_reason;
  bool has_tick = false;
  std::optional<TickMark> last_tick;  // of any run: this one may have died before its first
};

// Ends every run that was left open with its last tick, as unclean; whether there was one.
bool end_unclean_runs(SQLite::Database& database);
std::optional<LastRun> last_run(SQLite::Database& database);

std::int64_t store_boot(SQLite::Database& database, const BootInfo& boot);
std::int64_t insert_run(SQLite::Database& database, std::int64_t boot_id, const RunInfo& run);
// Who makes cgroups chooses how long their paths are, and events stay for long.
std::string end_of_path(std::string_view path, std::size_t most = 256);

// `detail`: JSON, or empty.
void insert_event(SQLite::Database& database, std::int64_t run_id, const Event& event, std::string_view detail = {});
void end_run(SQLite::Database& database, std::int64_t run_id, std::int64_t ended_ms, const std::string& reason);

// Events for what lies between `last` and the run that begins: an unclean end, and a gap.
void insert_break_events(SQLite::Database& database, const LastRun& last, std::int64_t run_id, std::int64_t boot_id,
                         const Moment& started);

}  // namespace memoir
