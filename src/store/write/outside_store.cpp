#include "store/write/outside_store.h"

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>

namespace memoir {
namespace {

// A number comes again after very many segments.
std::pair<std::int64_t, std::int32_t> segment_key(const SysvSegment& segment) {
  return {segment.shmid, segment.creator_pid};
}

auto entry_key(const PlacedEntry& placed) {
  return std::tuple(placed.tmpfs_id, std::string_view(placed.entry.path), placed.entry.directory);
}

std::vector<TmpfsSample> without_entries(std::vector<TmpfsSample> mounts) {
  for (TmpfsSample& mount : mounts) mount.largest.clear();
  return mounts;
}

// `stored`: of the same mounts, in the same order.
std::vector<PlacedEntry> entries_of(const std::vector<TmpfsSample>& mounts,
                                    const std::vector<StoredSample<TmpfsSample>>& stored) {
  std::vector<PlacedEntry> entries;
  for (std::size_t i = 0; i < mounts.size(); ++i) {
    for (const TmpfsEntry& entry : mounts[i].largest) entries.push_back({stored[i].id, entry});
  }
  std::ranges::sort(entries, {}, entry_key);
  return entries;
}

}  // namespace

void OutsideStore::store(const Tick& tick, std::int64_t boot_id, const TickContext& context, WriterState& state) {
  if (!tick.segments && !tick.tmpfs && !context.keyframe) return;
  auto stored = state.outside == nullptr ? StoredOutside() : *state.outside;
  store_segments(tick.segments, boot_id, context, stored);
  store_tmpfs(tick.tmpfs, context, stored);
  state.outside = std::make_shared<const StoredOutside>(std::move(stored));
}

void OutsideStore::store_segments(const std::optional<std::vector<SysvSegment>>& segments, std::int64_t boot_id,
                                  const TickContext& context, StoredOutside& stored) {
  store_changes(
      segments, segment_key, context.keyframe, stored.segments,
      [&](const SysvSegment& segment) { return segments_.id(boot_id, segment, context.time.at_ms); },
      [&](std::int64_t id, const SysvSegment& segment) { segments_.insert(context.tick_id, id, segment); },
      [&](std::int64_t id) { segments_.insert_gone(context.tick_id, id); });
}

void OutsideStore::store_tmpfs(const std::optional<std::vector<TmpfsSample>>& mounts, const TickContext& context,
                               StoredOutside& stored) {
  const auto samples = mounts ? std::optional(without_entries(*mounts)) : std::nullopt;
  store_changes(
      samples, &TmpfsSample::mount_point, context.keyframe, stored.mounts,
      [&](const TmpfsSample& sample) { return tmpfs_.id(sample.mount_point); },
      [&](std::int64_t id, const TmpfsSample& sample) { tmpfs_.insert(context.tick_id, id, sample); },
      [&](std::int64_t id) { tmpfs_.insert_gone(context.tick_id, id); });
  const auto entries = mounts ? std::optional(entries_of(*mounts, stored.mounts)) : std::nullopt;
  store_changes(
      entries, entry_key, context.keyframe, stored.entries,
      [&](const PlacedEntry& placed) { return tmpfs_.entry_id(placed.tmpfs_id, placed.entry); },
      [&](std::int64_t id, const PlacedEntry& placed) { tmpfs_.insert_entry(context.tick_id, id, placed.entry); },
      [&](std::int64_t id) { tmpfs_.insert_gone_entry(context.tick_id, id); });
}

}  // namespace memoir
