#include "store/activity.h"

#include <algorithm>
#include <fmt/format.h>

#include "store/rollup/activity.h"
#include "store/rollup/reader.h"
#include "store/rollup/rollup.h"
#include "store/sqlite/statement.h"
#include "store/tiers.h"

namespace memoir {
namespace {

using Buckets = std::optional<std::vector<ActivityBucket>>;

std::optional<std::int64_t> sum_of(std::optional<std::int64_t> a, std::optional<std::int64_t> b) {
  return a && b ? std::optional(*a + *b) : a ? a : b;
}

ActivityBucket read_bucket(const Statement& row, std::int64_t width_ms) {
  constexpr std::int64_t max_ms = std::int64_t{1} << 58;
  const std::int64_t from_ms = row.within(0, -max_ms / width_ms, max_ms / width_ms) * width_ms;
  return {from_ms,
          from_ms + width_ms,
          {.ticks = row.integer(1),
           .reported_ticks = row.integer(2),
           .lost_events = row.integer(3),
           .started = row.integer(4),
           .exited = row.integer(5),
           .short_lived = row.integer(6),
           .alive = row.maybe(7),
           .oom_kills = row.maybe(8)}};
}

// Adds the rows of `sql` to the buckets, in time order. Two parts of a bucket become one bucket.
void append(SQLite::Database& database, const std::string& sql, std::int64_t width_ms, std::int64_t first,
            std::int64_t last, std::vector<ActivityBucket>& buckets) {
  Statement rows(database, sql);
  rows.bind(first, last);
  while (rows.step()) {
    const ActivityBucket bucket = read_bucket(rows, width_ms);
    const auto place = std::ranges::lower_bound(buckets, bucket.from_ms, {}, &ActivityBucket::from_ms);
    if (place != buckets.end() && place->from_ms == bucket.from_ms) {
      place->activity.add(bucket.activity);
    } else {
      buckets.insert(place, bucket);
    }
  }
}

std::vector<ActivityBucket> buckets_of_ticks(SQLite::Database& database, Range range) {
  const std::int64_t width_ms = kRollupTiers.front().width_ms;
  std::vector<ActivityBucket> buckets;
  append(database, tick_activity_sql(width_ms, "wall_ms BETWEEN ?1 + 1 AND ?2 + 1"), width_ms, range.from_ms,
         range.to_ms, buckets);
  return buckets;
}

// Returns the rollups of a tier, followed by buckets of the ticks after them.
std::vector<ActivityBucket> buckets_of_tier(SQLite::Database& database, const TierShape& shape, Range range) {
  const std::int64_t first = range.from_ms / shape.width_ms;
  const std::int64_t last = range.to_ms / shape.width_ms;
  std::vector<ActivityBucket> buckets;
  append(database, rolled_activity_sql(shape), shape.width_ms, first, last, buckets);
  append(database,
         tick_activity_sql(shape.width_ms, fmt::format("id >= {0} AND (wall_ms - 1) / {1} BETWEEN ?1 AND ?2",
                                                       rollup_progress(database).target_tick_id, shape.width_ms)),
         shape.width_ms, first, last, buckets);
  return buckets;
}

Buckets read_buckets(SQLite::Database& database, Range range) {
  const std::vector<TierSpan> tiers = load_tiers(database);
  if (tiers.empty()) return std::vector<ActivityBucket>();
  const std::int64_t first_ms = std::ranges::min(tiers, {}, &TierSpan::from_ms).from_ms;
  const std::int64_t recorded_ms = one(database, "SELECT MIN(from_ms) FROM stretch").value_or(tiers.front().from_ms);
  const Range asked{std::max({range.from_ms, first_ms, recorded_ms}), std::min(range.to_ms, tiers.front().to_ms)};
  const auto reaches = [&](Tier tier) {
    const auto span = std::ranges::find(tiers, tier, &TierSpan::tier);
    return span != tiers.end() && span->from_ms <= asked.from_ms;
  };
  for (const TierShape& shape : kRollupTiers) {
    const bool tiles = (range.from_ms % shape.width_ms == 0 || range.from_ms <= recorded_ms) &&
                       ((range.to_ms + 1) % shape.width_ms == 0 || range.to_ms >= tiers.front().to_ms);
    if (tiles && reaches(shape.tier)) return buckets_of_tier(database, shape, range);
  }
  if (reaches(Tier::raw)) return buckets_of_ticks(database, range);
  if (reaches(Tier::five_minutes)) return buckets_of_tier(database, kRollupTiers.front(), range);
  return std::nullopt;
}

}  // namespace

void Activity::add(const Activity& later) {
  ticks += later.ticks;
  reported_ticks += later.reported_ticks;
  lost_events += later.lost_events;
  started += later.started;
  exited += later.exited;
  short_lived += later.short_lived;
  if (later.alive) alive = later.alive;
  oom_kills = sum_of(oom_kills, later.oom_kills);
}

Result<std::optional<std::vector<ActivityBucket>>> load_activity_buckets(Reader& reader, Range range) {
  return reader.read([range](SQLite::Database& database) { return read_buckets(database, range); });
}

Result<std::optional<Activity>> load_activity(Reader& reader, Range range) {
  const auto buckets = TRY(load_activity_buckets(reader, range));
  if (!buckets) return std::optional<Activity>();
  Activity sum;
  for (const ActivityBucket& bucket : *buckets) sum.add(bucket.activity);
  return std::optional(sum);
}

}  // namespace memoir
