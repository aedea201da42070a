#pragma once

// What the OOM killer did between two ticks, as events: by the counters of the cgroups and, for what none of them
// tells, by the machine's. The machine's counter is stored with each tick, so that what happened while nothing was
// recorded is told as well, as long as the machine was not booted in between.

#include <cstdint>
#include <vector>

#include "model/tick.h"
#include "store/write/writer_state.h"

namespace SQLite {
class Database;
}

namespace memoir {

// The machine's counter at the last tick of this boot; nothing where there is none.
OomCount last_oom_count(SQLite::Database& database, std::int64_t boot_id);

// Events of this tick; `count` is brought up to date.
std::vector<Event> oom_kill_events(const Tick& tick, OomCount& count);

// An event for each whom the kernel told to have been chosen: beside the counters, which are the truth of how many were
// ended. And for each whom a killer in user space chose, which they do not count.
void insert_oom_victims(SQLite::Database& database, std::int64_t run_id, const Tick& tick);

}  // namespace memoir
