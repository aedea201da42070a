#pragma once

// The tables activity_TIER: sums of the counts of ticks (started, exited, OOM kills). A tick counts events up to its
// time, so a tick exactly at the start of a bucket belongs to the previous bucket.

#include <cstdint>
#include <string>

#include "store/tiers.h"

namespace SQLite {
class Database;
}

namespace memoir {

// Returns a query for the sums over the ticks of each bucket. Its columns are bucket (numbered from the epoch), ticks,
// reported_ticks, lost_events, started, exited, short_lived, alive, oom_kills.
std::string tick_activity_sql(std::int64_t width_ms, const std::string& condition);

// Returns a query of the stored buckets ?1 to ?2 of a tier, with the same columns.
std::string rolled_activity_sql(const TierShape& shape);

// Adds the ticks from `first` up to, not including, `end` to the table of a tier.
void roll_up_activity(SQLite::Database& database, const TierShape& shape, std::int64_t first, std::int64_t end);

}  // namespace memoir
