#pragma once

// Writes and reads the row of a tick.

#include <cstdint>
#include <optional>
#include <string>

#include "model/tick.h"
#include "store/sqlite/statement.h"
#include "store/types.h"

namespace memoir {

// Counts since the previous tick; see the schema.
struct TickActivity {
  std::int64_t alive = 0;
  std::int64_t started = 0;
  std::int64_t exited = 0;
  std::int64_t short_lived = 0;
  std::optional<std::int64_t> oom_kills = {};
};

// Returns the columns of the table tick, in the order that read_tick expects.
std::string tick_columns();
StoredTick read_tick(const Statement& row);

std::string insert_tick_sql();
std::string insert_recorder_memory_sql();
void insert_recorder_memory(Statement& insert, std::int64_t tick_id, const RecorderMemory& memory);
// Returns the last stored values in the tick's run; nullopt if there are none up to the tick.
std::optional<RecorderMemory> load_recorder_memory(SQLite::Database& database, const StoredTick& tick);

void insert_tick(Statement& insert, std::int64_t tick_id, std::int64_t run_id, std::int64_t keyframe_id,
                 const Tick& tick, const TickActivity& activity);

}  // namespace memoir
