#include "store/replay/snapshot_cache.h"

#include <algorithm>
#include <utility>

#include "base/heap_bytes.h"
#include "store/sqlite/pragma.h"

namespace memoir {
namespace {

// Number of previous ticks that are loaded at once, if they fit. Stepping through them takes a third of the time of
// loading one.
constexpr std::size_t kMaxStepsBack = 8;

std::size_t bytes_of(const ProcessState& state) {
  const StoredProcess& process = state.process;
  return sizeof(state) + heap_bytes(process.info) + heap_bytes(process.boot_id) + heap_bytes(process.exit_kind) +
         heap_bytes(process.unit) + heap_bytes(process.identity);
}

std::size_t bytes_of(const Snapshot& snapshot) {
  std::size_t bytes = sizeof(snapshot);
  for (const ProcessState& state : snapshot.processes) bytes += bytes_of(state);
  for (const CgroupSample& cgroup : snapshot.cgroups) bytes += sizeof(cgroup) + heap_bytes(cgroup.path);
  for (const CategorySample& category : snapshot.categories) bytes += sizeof(category) + heap_bytes(category.category);
  return bytes;
}

}  // namespace

SnapshotCache::SnapshotCache(SQLite::Database& database, std::size_t max_bytes)
    : database_(database), max_bytes_(max_bytes), replay_(database) {}

std::optional<Snapshot> SnapshotCache::load(std::int64_t tick_id) {
  // Snapshots contain runs and lifetimes, which change with the file. The replay updates those of its own state.
  const std::int64_t version = number(database_, kDataVersion);
  if (version != data_version_) {
    kept_.clear();
    bytes_ = 0;
  }
  data_version_ = version;
  const std::int64_t last_id = std::exchange(last_id_, tick_id);
  if (find(tick_id) == nullptr) {
    const bool goes_back = tick_id + 1 == last_id;
    if (!(goes_back && replay_before(tick_id)) && !replay_to(tick_id)) return std::nullopt;
    keep(replay_.snapshot());
  }
  return kept_.front().snapshot;
}

// Returns nullptr if the snapshot is not kept. Otherwise marks it as the last used one.
const Snapshot* SnapshotCache::find(std::int64_t tick_id) {
  const auto found = std::ranges::find(kept_, tick_id, [](const Kept& kept) { return kept.snapshot.tick.id; });
  if (found == kept_.end()) return nullptr;
  kept_.splice(kept_.begin(), kept_, found);
  return &found->snapshot;
}

void SnapshotCache::keep(const Snapshot& snapshot) {
  kept_.push_front({snapshot, bytes_of(snapshot)});
  bytes_ += kept_.front().bytes;
  for (; bytes_ > max_bytes_ && kept_.size() > 1; kept_.pop_back()) bytes_ -= kept_.back().bytes;
}

bool SnapshotCache::replay_to(std::int64_t tick_id) {
  if (tick_id > 1 && replay_.tick_id() == tick_id - 1) return replay_.next();
  const Snapshot* const before = find(tick_id - 1);
  return before == nullptr ? replay_.load(tick_id) : (replay_.start(*before), replay_.next());
}

// Loads and keeps several ticks before this one. Returns false if they would not fit, or the oldest of them is not
// recorded.
bool SnapshotCache::replay_before(std::int64_t tick_id) {
  const std::size_t each = std::max(bytes_of(replay_.snapshot()), std::size_t{1});
  const auto steps = static_cast<std::int64_t>(std::min(max_bytes_ / each, kMaxStepsBack)) - 1;
  if (steps < 1 || !replay_.load(std::max<std::int64_t>(tick_id - steps, 1))) return false;
  while (replay_.tick_id() < tick_id) {
    keep(replay_.snapshot());
    if (!replay_.next()) return false;
  }
  return true;
}

}  // namespace memoir
