#include "store/write/shmem_store.h"

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>

namespace memoir {
namespace {

constexpr int kNotFound = 3;

// Returns the key of a segment. The creator distinguishes segments if the kernel reuses a shmid.
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

// Returns the entries of all mounts. `stored` has the same mounts in the same order.
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

ShmemStore::ShmemStore(SQLite::Database& database)
    : find_segment_(database, "SELECT id FROM sysv_segment WHERE boot_id = ? AND shmid = ? AND creator_pid = ?"),
      insert_segment_(database,
                      "INSERT INTO sysv_segment (boot_id, shmid, creator_pid, key, creator_uid, size_kib, first_ms) "
                      "VALUES (?, ?, ?, ?, ?, ?, ?)"),
      segment_sample_(database,
                      "INSERT INTO sysv_sample (tick_id, segment_id, attachments, uid, last_pid, removed, rss_kib, "
                      "swap_kib, detached_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"),
      gone_segment_(database, "INSERT INTO sysv_sample (tick_id, segment_id) VALUES (?, ?)"),
      mounts_(database, "SELECT id FROM tmpfs WHERE mount_point = ?", "INSERT INTO tmpfs (mount_point) VALUES (?)"),
      entries_(database, "SELECT id FROM tmpfs_entry WHERE tmpfs_id = ? AND path = ? AND directory = ?",
               "INSERT INTO tmpfs_entry (tmpfs_id, path, directory) VALUES (?, ?, ?)"),
      mount_sample_(
          database,
          "INSERT INTO tmpfs_sample (tick_id, tmpfs_id, state, source, limit_kib, used_kib, inodes, walked_ms, "
          "entries, directories, symlinks, sockets, fifos, devices, closed, allocated_kib, logical_kib) "
          "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
      gone_mount_(database, "INSERT INTO tmpfs_sample (tick_id, tmpfs_id, state) VALUES (?, ?, ?)"),
      entry_sample_(database,
                    "INSERT INTO tmpfs_entry_sample (tick_id, entry_id, allocated_kib, logical_kib, entries, uid, "
                    "changed_ms) VALUES (?, ?, ?, ?, ?, ?, ?)"),
      gone_entry_(database, "INSERT INTO tmpfs_entry_sample (tick_id, entry_id) VALUES (?, ?)") {}

void ShmemStore::store(const Tick& tick, std::int64_t boot_id, const TickContext& context, WriterState& state) {
  if (!tick.segments && !tick.tmpfs && !context.keyframe) return;
  auto stored = state.shmem == nullptr ? StoredShmem() : *state.shmem;
  store_segments(tick.segments, boot_id, context, stored);
  store_tmpfs(tick.tmpfs, context, stored);
  state.shmem = std::make_shared<const StoredShmem>(std::move(stored));
}

void ShmemStore::store_segments(const std::optional<std::vector<SysvSegment>>& segments, std::int64_t boot_id,
                                const TickContext& context, StoredShmem& stored) {
  store_changes(
      segments, segment_key, context.keyframe, stored.segments,
      [&](const SysvSegment& segment) { return segment_id(boot_id, segment, context.time.at_ms); },
      [&](std::int64_t id, const SysvSegment& segment) {
        const auto removed = segment.removed ? std::optional(*segment.removed ? 1 : 0) : std::nullopt;
        segment_sample_.run(context.tick_id, id, segment.attachments, segment.uid, segment.last_pid, removed,
                            segment.rss_kib, segment.swap_kib, segment.detached_ms);
      },
      [&](std::int64_t id) { gone_segment_.run(context.tick_id, id); });
}

void ShmemStore::store_tmpfs(const std::optional<std::vector<TmpfsSample>>& mounts, const TickContext& context,
                             StoredShmem& stored) {
  const auto samples = mounts ? std::optional(without_entries(*mounts)) : std::nullopt;
  store_changes(
      samples, &TmpfsSample::mount_point, context.keyframe, stored.mounts,
      [&](const TmpfsSample& sample) { return mounts_.id(sample.mount_point); },
      [&](std::int64_t id, const TmpfsSample& sample) { insert_mount(context.tick_id, id, sample); },
      [&](std::int64_t id) { gone_mount_.run(context.tick_id, id, kNotFound); });
  const auto entries = mounts ? std::optional(entries_of(*mounts, stored.mounts)) : std::nullopt;
  store_changes(
      entries, entry_key, context.keyframe, stored.entries,
      [&](const PlacedEntry& placed) {
        return entries_.id(placed.tmpfs_id, placed.entry.path, placed.entry.directory ? 1 : 0);
      },
      [&](std::int64_t id, const PlacedEntry& placed) {
        const TmpfsEntry& entry = placed.entry;
        entry_sample_.run(context.tick_id, id, entry.allocated_kib, entry.logical_kib, entry.entries, entry.uid,
                          entry.changed_ms);
      },
      [&](std::int64_t id) { gone_entry_.run(context.tick_id, id); });
}

void ShmemStore::insert_mount(std::int64_t tick_id, std::int64_t id, const TmpfsSample& sample) {
  // Without a walk, the values that it would find are unknown.
  const auto found = [&sample](std::int64_t value) { return sample.walked_ms ? std::optional(value) : std::nullopt; };
  const TmpfsContent& content = sample.content;
  mount_sample_.run(tick_id, id, static_cast<int>(sample.walk), sample.source, sample.limit_kib, sample.used_kib,
                    sample.inodes, sample.walked_ms, found(content.entries), found(content.directories),
                    found(content.symlinks), found(content.sockets), found(content.fifos), found(content.devices),
                    found(content.closed), found(content.allocated_kib), found(content.logical_kib));
}

std::int64_t ShmemStore::segment_id(std::int64_t boot_id, const SysvSegment& segment, std::int64_t at_ms) {
  const auto found = find_segment_.one(boot_id, segment.shmid, segment.creator_pid);
  if (found) return *found;
  return insert_segment_.insert(boot_id, segment.shmid, segment.creator_pid, segment.key, segment.creator_uid,
                                segment.size_kib, at_ms);
}

}  // namespace memoir
