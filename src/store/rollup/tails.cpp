#include "store/rollup/tails.h"

#include <algorithm>

namespace memoir {

void RollupTails::forget_outdated() {
  const std::int64_t tick_id = last_tick_id(database_);
  if (tick_id != last_tick_id_) kept_.clear();
  last_tick_id_ = tick_id;
}

const RolledTail* RollupTails::from(std::int64_t tick_id, std::optional<std::int64_t> end, Range range) {
  Statement first(database_, "SELECT id, wall_ms FROM tick WHERE id >= ? ORDER BY id LIMIT 1");
  if (!first.bind(tick_id).step()) return nullptr;
  // The clock may have been set back since: it is enough that one tick is in the range.
  Statement touched(database_, "SELECT 1 FROM tick WHERE id >= ? AND wall_ms <= ? ORDER BY id LIMIT 1");
  if (!touched.bind(tick_id, range.to_ms).step()) return nullptr;
  forget_outdated();
  const auto known = std::find_if(kept_.begin(), kept_.end(),
                                  [&](const Kept& kept) { return kept.tick_id == tick_id && kept.end == end; });
  if (known != kept_.end()) return &known->tail;
  kept_.push_back({tick_id, end, {first.integer(1), roll_up(database_, first.integer(0), end)}});
  return &kept_.back().tail;
}

}  // namespace memoir
