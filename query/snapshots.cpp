#include "query/snapshots.h"

namespace memoir::query {

Result<const Snapshot*> Snapshots::at(std::int64_t at_ms) {
  const Result<std::optional<StoredTick>> tick = reader_.tick_at(at_ms);
  if (!tick) return tick.error();
  if (!*tick) return static_cast<const Snapshot*>(nullptr);
  const auto held = by_tick_.find((*tick)->id);
  if (held != by_tick_.end()) return static_cast<const Snapshot*>(&held->second);
  Result<Snapshot> loaded = reader_.snapshot((*tick)->id);
  if (!loaded) return loaded.error();
  return static_cast<const Snapshot*>(&by_tick_.emplace((*tick)->id, *std::move(loaded)).first->second);
}

}  // namespace memoir::query
