#include "store/retention/cutoffs.h"

#include <SQLiteCpp/Database.h>
#include <algorithm>
#include <fmt/format.h>
#include <string>

#include "store/sqlite/statement.h"

namespace memoir {
namespace {

std::vector<RecordedSpan> load_spans(SQLite::Database& database) {
  const auto read = [](const Statement& row) {
    return RecordedSpan{row.integer(0), row.integer(1), row.integer(2), row.integer(3),
                        row.integer(4), row.integer(5), row.integer(6)};
  };
  return every(database,
               "SELECT run_id, first_tick_id, last_tick_id, from_ms, to_ms, to_boot_ms, recorded_ms FROM stretch "
               "ORDER BY first_tick_id",
               read);
}

// Returns the first tick of a stretch at or after a wall time; ticks are numbered without holes, and only the first
// ones have expired.
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

bool TierCutoff::expired(std::int64_t wall_ms) const {
  return recorded_ms > 0 && !kept.holds(block_of(wall_ms, block_ms));
}

std::vector<BlockSet::Blocks> TierCutoff::expired() const {
  return recorded_ms > 0 ? kept.others() : std::vector<BlockSet::Blocks>();
}

RetentionCutoffs::RetentionCutoffs(SQLite::Database& database, const Retention& limits)
    : database_(database), past_(load_spans(database)) {
  if (past_.empty()) return;
  cut_ticks(limits.raw_ms);
  for (const TierShape& shape : kRollupTiers) {
    const std::int64_t age_ms = limits.*shape.kept_ms;
    const auto cut = one(database, fmt::format("SELECT {}_cut FROM retention WHERE id = ?", shape.retained), 1);
    if (cut) cut_tier(shape, std::max(*cut, age_ms == 0 ? 0 : past_.now() - age_ms));
  }
}

// Returns the keyframe of the last rolled up tick. Rows from there on are still needed.
std::int64_t RetentionCutoffs::last_free_tick() const {
  return one(database_, "SELECT t.keyframe_id FROM rollup_progress AS m JOIN tick AS t ON t.id = m.tick_id - 1")
      .value_or(0);
}

void RetentionCutoffs::cut_ticks(std::int64_t age_ms) {
  const std::int64_t oldest = one(database_, "SELECT MIN(id) FROM tick").value_or(0);
  first_tick_ = one(database_, "SELECT keyframe_id FROM tick WHERE id = ?", oldest).value_or(0);
  const auto young = past_.since(past_.now() - age_ms);
  if (young.empty() || age_ms == 0) return;
  const std::int64_t tick = find_tick(database_, young.front(), oldest);
  const std::int64_t keyframe = one(database_, "SELECT keyframe_id FROM tick WHERE id = ?", tick).value_or(0);
  first_tick_ = std::max(first_tick_, std::min(keyframe, last_free_tick()));
}

void RetentionCutoffs::cut_tier(const TierShape& shape, std::int64_t recorded_ms) {
  const std::int64_t block_ms = shape.block_ms();
  tiers_.at(index_of(shape.tier)) = {recorded_ms, block_ms, past_.blocks_since(recorded_ms, block_ms)};
}

bool RetentionCutoffs::tighten_ticks() {
  const auto next = one(database_, "SELECT MIN(id) FROM tick WHERE id > ? AND keyframe_id = id", first_tick_);
  if (!next || *next > last_free_tick()) return false;
  first_tick_ = *next;
  return true;
}

// Moves the cutoff in steps of a block's length, until the oldest block expires. The current block stays.
bool RetentionCutoffs::tighten_tier(const TierShape& shape) {
  const std::string sql = fmt::format("SELECT MIN({0}) FROM rollup_{1} WHERE {0} >= ?", shape.block, shape.name);
  const auto oldest = one(database_, sql, of(shape.tier).kept.first());
  if (!oldest) return false;
  const std::int64_t now = past_.now();
  for (std::int64_t cut = of(shape.tier).recorded_ms; cut < now;) {
    cut = std::min(cut + shape.block_ms(), now);
    if (past_.blocks_since(cut, shape.block_ms()).holds(*oldest)) continue;
    cut_tier(shape, cut);
    return true;
  }
  return false;
}

bool RetentionCutoffs::tighten_tiers() {
  return std::ranges::any_of(kRollupTiers, [this](const TierShape& shape) { return tighten_tier(shape); });
}

void RetentionCutoffs::store() const {
  for (const TierShape& shape : kRollupTiers) {
    const TierCutoff& cut = of(shape.tier);
    Statement(database_, fmt::format("UPDATE retention SET {0}_cut = ?, {0}_from_ms = ? WHERE id = 1", shape.retained))
        .run(cut.recorded_ms, cut.recorded_ms <= 0 ? 0 : cut.kept.first() * cut.block_ms);
  }
}

}  // namespace memoir
