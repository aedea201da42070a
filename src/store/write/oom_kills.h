#pragma once

// Events for OOM kills between two ticks. They come from the counters of the cgroups; the machine's counter adds the
// kills that no cgroup counted. The machine's counter is stored with each tick, so kills while nothing was recorded are
// reported as well, if they are not from an earlier boot.

#include <cstdint>
#include <vector>

#include "model/tick.h"
#include "store/write/writer_state.h"

namespace SQLite {
class Database;
}

namespace memoir {

// Returns the machine's counter at the last tick of this boot. If the last tick is of another boot, returns a counter
// of 0 at the start of this boot. In a new file the counter is unknown.
OomCount last_oom_count(SQLite::Database& database, std::int64_t boot_id);

// Inserts the events of this tick, and updates `count`. count.in_tick is then the number of killed processes: by the
// counters, or without them by the kernel's reports, plus the victims of user-space killers.
void insert_oom_kills(SQLite::Database& database, std::int64_t run_id, const Tick& tick, OomCount& count);

// Inserts an event for each victim that the kernel reported, and for each victim of a user-space killer. These events
// do not change the number of kills by the kernel, which comes from the counters.
void insert_oom_victims(SQLite::Database& database, std::int64_t run_id, const Tick& tick);

}  // namespace memoir
