#pragma once

// What holds memory outside of processes at one tick, from the rows between its keyframe and itself; and what it held
// before, as far back as ticks are kept.

#include <cstdint>
#include <vector>

#include "store/sqlite/statement.h"
#include "store/types.h"

namespace memoir {

Outside load_outside(SQLite::Database& database, std::int64_t tick_id);
// Sorted by shmid.
std::vector<SegmentAt> load_segments(SQLite::Database& database, std::int64_t tick_id);
// Sorted by mount point. `since_tick`: what entries held then is told too; 0: not.
std::vector<TmpfsAt> load_tmpfs(SQLite::Database& database, std::int64_t tick_id, std::int64_t since_tick);

}  // namespace memoir
