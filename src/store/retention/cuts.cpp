#include "store/retention/cuts.h"

#include <SQLiteCpp/Database.h>
#include <algorithm>
#include <optional>

#include "store/sqlite/statement.h"

namespace memoir {
namespace {

constexpr std::array<const char*, kTiers> kOldestBlock{"SELECT MIN(hour) FROM rollup_5min WHERE hour >= ?",
                                                       "SELECT MIN(day) FROM rollup_hour WHERE day >= ?",
                                                       "SELECT MIN(day) FROM rollup_day WHERE day >= ?"};

std::vector<RecordedSpan> load_spans(SQLite::Database& database) {
  Statement rows(database,
                 "SELECT run_id, first_tick_id, last_tick_id, from_ms, to_ms, to_boot_ms, recorded_ms FROM stretch "
                 "ORDER BY first_tick_id");
  std::vector<RecordedSpan> spans;
  while (rows.step()) {
    spans.push_back({rows.integer(0), rows.integer(1), rows.integer(2), rows.integer(3), rows.integer(4),
                     rows.integer(5), rows.integer(6)});
  }
  return spans;
}

std::optional<std::int64_t> one(SQLite::Database& database, const char* sql) {
  Statement row(database, sql);
  return row.step() ? row.maybe(0) : std::nullopt;
}

std::optional<std::int64_t> one(SQLite::Database& database, const char* sql, std::int64_t bound) {
  Statement row(database, sql);
  return row.bind(bound).step() ? row.maybe(0) : std::nullopt;
}

// The first tick of a stretch at or after a wall time; ticks have numbers without holes, and only the first ones are
// gone.
std::int64_t find_tick(SQLite::Database& database, const RecordedSpan& span, std::int64_t oldest) {
  Statement wall(database, "SELECT wall_ms FROM tick WHERE id = ?");
  std::int64_t from = std::max(span.first_tick_id, oldest);
  std::int64_t to = span.last_tick_id;
  while (from < to) {
    const std::int64_t middle = from + (to - from) / 2;
    if (wall.bind(middle).step() && wall.integer(0) >= span.from_ms) {
      to = middle;
    } else {
      from = middle + 1;
    }
  }
  return from;
}

}  // namespace

bool TierCut::gone(std::int64_t wall_ms) const {
  return recorded_ms > 0 && !kept.holds(block_of(wall_ms, block_ms));
}

std::vector<BlockSet::Blocks> TierCut::gone() const {
  return recorded_ms > 0 ? kept.others() : std::vector<BlockSet::Blocks>();
}

RetentionCuts::RetentionCuts(SQLite::Database& database, const Retention& limits)
    : database_(database), past_(load_spans(database)) {
  if (past_.empty()) return;
  cut_ticks(limits.raw_ms);
  const std::array ages{limits.five_minutes_ms, limits.hour_ms, limits.day_ms};
  Statement cuts(database, "SELECT five_minutes_cut, hour_cut, day_cut FROM retention WHERE id = 1");
  if (!cuts.step()) return;
  for (std::size_t tier = 0; tier < kTiers; ++tier) {
    const std::int64_t by_age = ages[tier] == 0 ? 0 : past_.now() - ages[tier];
    cut_tier(tier, std::max(cuts.integer(static_cast<int>(tier)), by_age));
  }
}

// The keyframe of the last tick that both the rollups and the marks hold: the rows from there on are still needed.
std::int64_t RetentionCuts::last_free_tick() const {
  const auto rolled_up =
      one(database_, "SELECT t.keyframe_id FROM rollup_mark AS m JOIN tick AS t ON t.id = m.tick_id - 1");
  const auto marked =
      one(database_, "SELECT t.keyframe_id FROM high_water_mark AS m JOIN tick AS t ON t.id = m.tick_id");
  return std::min(rolled_up.value_or(0), marked.value_or(0));
}

void RetentionCuts::cut_ticks(std::int64_t age_ms) {
  const std::int64_t oldest = one(database_, "SELECT MIN(id) FROM tick").value_or(0);
  first_tick_ = one(database_, "SELECT keyframe_id FROM tick WHERE id = ?", oldest).value_or(0);
  const auto young = past_.since(past_.now() - age_ms);
  if (young.empty() || age_ms == 0) return;
  const std::int64_t tick = find_tick(database_, young.front(), oldest);
  const std::int64_t keyframe = one(database_, "SELECT keyframe_id FROM tick WHERE id = ?", tick).value_or(0);
  first_tick_ = std::max(first_tick_, std::min(keyframe, last_free_tick()));
}

void RetentionCuts::cut_tier(std::size_t tier, std::int64_t recorded_ms) {
  tiers_[tier] = {recorded_ms, kTierBlockMs[tier], past_.blocks_since(recorded_ms, kTierBlockMs[tier])};
}

bool RetentionCuts::tighten_ticks() {
  const auto next = one(database_, "SELECT MIN(id) FROM tick WHERE id > ? AND keyframe_id = id", first_tick_);
  if (!next || *next > last_free_tick()) return false;
  first_tick_ = *next;
  return true;
}

// By a block's length at a time, until that lets go of the oldest block. The block of what comes next stays.
bool RetentionCuts::tighten_tier(std::size_t tier) {
  const auto oldest = one(database_, kOldestBlock[tier], tiers_[tier].kept.first());
  if (!oldest) return false;
  const std::int64_t now = past_.now();
  for (std::int64_t cut = tiers_[tier].recorded_ms; cut < now;) {
    cut = std::min(cut + kTierBlockMs[tier], now);
    if (past_.blocks_since(cut, kTierBlockMs[tier]).holds(*oldest)) continue;
    cut_tier(tier, cut);
    return true;
  }
  return false;
}

bool RetentionCuts::tighten_tiers() {
  for (std::size_t tier = 0; tier < kTiers; ++tier) {
    if (tighten_tier(tier)) return true;
  }
  return false;
}

void RetentionCuts::store() const {
  Statement set(database_,
                "UPDATE retention SET five_minutes_cut = ?, five_minutes_from_ms = ?, hour_cut = ?, hour_from_ms = ?, "
                "day_cut = ?, day_from_ms = ? WHERE id = 1");
  set.bind();
  for (std::size_t tier = 0; tier < kTiers; ++tier) {
    set.add(tiers_[tier].recorded_ms);
    set.add(tiers_[tier].recorded_ms <= 0 ? 0 : tiers_[tier].kept.first() * kTierBlockMs[tier]);
  }
  set.finish();
}

}  // namespace memoir
