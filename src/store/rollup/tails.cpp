#include "store/rollup/tails.h"

namespace memoir {

const RolledTail* RollupTails::from(std::int64_t tick_id, std::optional<std::int64_t> end, Range range) {
  Statement first(database_, "SELECT id, wall_ms FROM tick WHERE id >= ? ORDER BY id LIMIT 1");
  if (!first.bind(tick_id).step()) return nullptr;
  // The clock may have been set back since: it is enough that one tick is in the range.
  if (!one(database_, "SELECT 1 FROM tick WHERE id >= ? AND wall_ms <= ? ORDER BY id LIMIT 1", tick_id, range.to_ms))
    return nullptr;
  const std::int64_t last_tick = last_tick_id(database_);
  if (std::exchange(last_tick_id_, last_tick) != last_tick) kept_.clear();
  const auto known = kept_.find({tick_id, end});
  if (known != kept_.end()) return &known->second;
  // Made before it is kept: it may throw.
  RolledTail tail{first.integer(1), roll_up(database_, first.integer(0), end)};
  return &kept_.try_emplace({tick_id, end}, std::move(tail)).first->second;
}

}  // namespace memoir
