#include "store/write/outside_store.h"

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>

namespace memoir {
namespace {

struct SegmentChanges {
  SegmentRows& rows;
  std::int64_t boot_id;
  const TickContext& context;

  std::int64_t id_of(const SysvSegment& segment) const { return rows.id(boot_id, segment, context.time.at_ms); }
  void insert(std::int64_t id, const SysvSegment& segment) const { rows.insert(context.tick_id, id, segment); }
  void end(std::int64_t id) const { rows.insert_gone(context.tick_id, id); }
};

struct MountChanges {
  TmpfsRows& rows;
  std::int64_t tick_id;

  std::int64_t id_of(const TmpfsSample& sample) const { return rows.id(sample.mount_point); }
  void insert(std::int64_t id, const TmpfsSample& sample) const { rows.insert(tick_id, id, sample); }
  void end(std::int64_t id) const { rows.insert_gone(tick_id, id); }
};

struct EntryChanges {
  TmpfsRows& rows;
  std::int64_t tick_id;

  std::int64_t id_of(const PlacedEntry& placed) const { return rows.entry_id(placed.tmpfs_id, placed.entry); }
  void insert(std::int64_t id, const PlacedEntry& placed) const { rows.insert_entry(tick_id, id, placed.entry); }
  void end(std::int64_t id) const { rows.insert_gone_entry(tick_id, id); }
};

// A number comes again after very many segments.
std::pair<std::int64_t, std::int32_t> segment_key(const SysvSegment& segment) {
  return {segment.shmid, segment.creator_pid};
}

auto entry_key(const PlacedEntry& placed) {
  return std::tuple(placed.tmpfs_id, std::string_view(placed.entry.path), placed.entry.directory);
}

std::vector<TmpfsSample> without_entries(const std::vector<TmpfsSample>& mounts) {
  std::vector<TmpfsSample> samples;
  samples.reserve(mounts.size());
  for (const TmpfsSample& mount : mounts) {
    TmpfsSample& sample = samples.emplace_back();
    sample.mount_point = mount.mount_point;
    sample.walk = mount.walk;
    sample.limit_kib = mount.limit_kib;
    sample.used_kib = mount.used_kib;
    sample.inodes = mount.inodes;
    sample.walked_ms = mount.walked_ms;
    sample.content = mount.content;
  }
  return samples;
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
  const SegmentChanges rows{segments_, boot_id, context};
  if (segments) {
    store_changes(*segments, segment_key, context.keyframe, rows, stored.segments);
  } else if (context.keyframe) {
    store_again(stored.segments, rows);
  }
}

void OutsideStore::store_tmpfs(const std::optional<std::vector<TmpfsSample>>& mounts, const TickContext& context,
                               StoredOutside& stored) {
  const MountChanges rows{tmpfs_, context.tick_id};
  const EntryChanges entry_rows{tmpfs_, context.tick_id};
  if (mounts) {
    store_changes(without_entries(*mounts), &TmpfsSample::mount_point, context.keyframe, rows, stored.mounts);
    store_changes(entries_of(*mounts, stored.mounts), entry_key, context.keyframe, entry_rows, stored.entries);
  } else if (context.keyframe) {
    store_again(stored.mounts, rows);
    store_again(stored.entries, entry_rows);
  }
}

}  // namespace memoir
