#pragma once

// Events for OOM kills between two ticks: by the counters of the cgroups and, for kills in none of them, by the
// machine's. The machine's counter is stored with each tick, so kills while nothing was recorded are reported as well,
// at least since the last boot.

#include <cstdint>
#include <vector>

#include "model/tick.h"
#include "store/write/writer_state.h"

namespace SQLite {
class Database;
}

namespace memoir {

// Returns the machine's counter at the last tick of this boot; 0 at the boot if the last tick is of another; empty in a
// new file.
OomCount last_oom_count(SQLite::Database& database, std::int64_t boot_id);

// Inserts the events of this tick, and updates `count`. Its `in_tick` has each killed process once: by the counters, or
// without them by the kernel's reports; and the victims of user-space killers.
void insert_oom_kills(SQLite::Database& database, std::int64_t run_id, const Tick& tick, OomCount& count);

// Inserts an event for each reported victim, besides those of the counters, which are the authoritative number of
// kills. And one for each victim of a user-space killer, which they do not count.
void insert_oom_victims(SQLite::Database& database, std::int64_t run_id, const Tick& tick);

}  // namespace memoir
