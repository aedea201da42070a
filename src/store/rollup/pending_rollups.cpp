#include "store/rollup/pending_rollups.h"

#include <utility>

namespace memoir {
namespace {

// If all subjects need more memory than this, they are rolled up one kind at a time.
constexpr std::int64_t kMaxBytes = 64LL * 1024 * 1024;

}  // namespace

const PendingRollup* PendingRollups::from(std::int64_t tick_id, std::optional<std::int64_t> end, Range range,
                                          SubjectKind kind) {
  Statement first(database_, "SELECT id, wall_ms FROM tick WHERE id >= ? ORDER BY id LIMIT 1");
  if (!first.bind(tick_id).step()) return nullptr;
  // The clock may have been set back in these ticks, so one tick in the range is enough.
  if (!one(database_, "SELECT 1 FROM tick WHERE id >= ? AND wall_ms <= ? ORDER BY id LIMIT 1", tick_id, range.to_ms))
    return nullptr;
  const std::int64_t last_tick = last_tick_id(database_);
  if (std::exchange(last_tick_id_, last_tick) != last_tick) {
    kept_.clear();
    large_ = false;
  }
  for (const auto of : {std::optional<SubjectKind>(), std::optional(kind)}) {
    if (const auto known = kept_.find({tick_id, end, of}); known != kept_.end()) return &known->second;
  }
  // It is built completely before it is cached, because roll_up() may throw.
  PendingRollup tail{first.integer(1), {}};
  if (!large_) {
    tail.segment = roll_up(database_, first.integer(0), end, {.bytes = kMaxBytes});
    large_ = tail.segment.ticks.last < end.value_or(last_tick + 1);
    if (!large_) return &kept_.try_emplace({tick_id, end, std::nullopt}, std::move(tail)).first->second;
  }
  tail.segment = {};
  kept_.clear();
  tail.segment = roll_up(database_, first.integer(0), end, {.only = kind});
  return &kept_.try_emplace({tick_id, end, kind}, std::move(tail)).first->second;
}

}  // namespace memoir
