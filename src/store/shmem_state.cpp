#include "store/shmem_state.h"

#include <unordered_map>
#include <utility>

#include "store/replay/tick_cursor.h"
#include "store/schema/sql.h"

namespace memoir {
namespace {

// Past values of one subject, with the ids of their ticks.
struct Past {
  struct Held {
    std::int64_t tick_id = 0;
    std::int64_t kib = 0;
  };
  std::optional<Held> first;
  std::optional<Held> before;  // the value before the last change, and the tick of that change
  std::optional<std::int64_t> now;
  std::optional<std::int64_t> since;

  void see(std::int64_t tick_id, std::optional<std::int64_t> kib, std::int64_t since_tick) {
    if (!first && kib) first = {tick_id, *kib};
    if (now && kib && *now != *kib) before = {tick_id, *now};
    if (now.has_value() != kib.has_value()) before.reset();
    now = kib;
    if (tick_id <= since_tick) since = kib;
  }
};

using Pasts = std::unordered_map<std::int64_t, Past>;  // by the id of the subject's row

// Reads past values. The rows of `rows_sql` have the tick's id, the subject's id and the value.
Pasts load_pasts(SQLite::Database& database, const char* rows_sql, std::int64_t tick_id, std::int64_t since_tick) {
  Statement rows(database, rows_sql);
  rows.bind(tick_id);
  Pasts pasts;
  while (rows.step()) pasts[rows.integer(1)].see(rows.integer(0), rows.maybe(2), since_tick);
  return pasts;
}

class Times {
 public:
  explicit Times(SQLite::Database& database) : time_(database, "SELECT wall_ms FROM tick WHERE id = ?") {}

  HeldAt at(const Past::Held& held) { return {time_.one(held.tick_id).value_or(0), held.kib}; }
  PastSize before(const Past& past) {
    PastSize held;
    if (past.first) held.first = at(*past.first);
    if (past.before) held.before = at(*past.before);
    held.since_kib = past.since;
    return held;
  }

 private:
  Statement time_;
};

std::optional<std::uint32_t> uid_at(const Statement& row, int column) {
  const auto uid = row.maybe(column);
  return uid ? std::optional(static_cast<std::uint32_t>(*uid)) : std::nullopt;
}

SegmentAt read_segment(const Statement& row) {
  SegmentAt at;
  SysvSegment& segment = at.segment;
  segment.shmid = row.integer(1);
  segment.key = row.maybe(2);
  segment.creator_pid = static_cast<std::int32_t>(row.integer(3));
  segment.creator_uid = uid_at(row, 4);
  segment.size_kib = row.maybe(5);
  at.first_ms = row.integer(6);
  segment.attachments = row.maybe(7);
  segment.uid = uid_at(row, 8);
  segment.last_pid = static_cast<std::int32_t>(row.integer(9));
  const auto removed = row.maybe(10);
  segment.removed = removed ? std::optional(*removed != 0) : std::nullopt;
  segment.rss_kib = row.integer(11);
  segment.swap_kib = row.integer(12);
  segment.detached_ms = row.maybe(13);
  return at;
}

TmpfsSample read_mount(const Statement& row) {
  TmpfsSample sample;
  sample.mount_point = row.name(1);
  sample.walk = static_cast<TmpfsWalk>(row.integer(2));
  sample.source = row.text(3);
  sample.limit_kib = row.maybe(4);
  sample.used_kib = row.maybe(5);
  sample.inodes = row.maybe(6);
  sample.walked_ms = row.maybe(7);
  sample.content = {row.integer(8),  row.integer(9),  row.integer(10), row.integer(11), row.integer(12),
                    row.integer(13), row.integer(14), row.integer(15), row.integer(16)};
  return sample;
}

TmpfsEntry read_entry(const Statement& row) {
  return {row.name(2),    row.integer(3) != 0, row.integer(4),
          row.integer(5), row.integer(6),      static_cast<std::uint32_t>(row.integer(7)),
          row.integer(8)};
}

struct ReadSegments {
  std::vector<std::int64_t> ids;
  std::vector<SegmentAt> segments;
};

ReadSegments read_segments(SQLite::Database& database, std::int64_t tick_id) {
  Statement rows(database, sql::snapshot_segments);
  rows.bind(keyframe_of(database, tick_id), tick_id);
  ReadSegments read;
  while (rows.step()) {
    read.segments.push_back(read_segment(rows));
    read.ids.push_back(rows.integer(0));
  }
  return read;
}

struct ReadMounts {
  std::unordered_map<std::int64_t, std::size_t> by_id;
  std::vector<TmpfsAt> mounts;
};

ReadMounts read_mounts(SQLite::Database& database, std::int64_t tick_id) {
  Statement rows(database, sql::snapshot_tmpfs);
  rows.bind(keyframe_of(database, tick_id), tick_id);
  ReadMounts read;
  while (rows.step()) {
    read.by_id[rows.integer(0)] = read.mounts.size();
    read.mounts.push_back({read_mount(rows), {}});
  }
  return read;
}

ShmemState read_shmem_state(SQLite::Database& database, std::int64_t tick_id) {
  ShmemState shmem;
  for (const SegmentAt& at : read_segments(database, tick_id).segments) shmem.segments.push_back(at.segment);
  for (TmpfsAt& at : read_mounts(database, tick_id).mounts) shmem.mounts.push_back(std::move(at.sample));
  return shmem;
}

std::vector<SegmentAt> read_segments_with_past(SQLite::Database& database, std::int64_t tick_id) {
  auto [ids, segments] = read_segments(database, tick_id);
  if (segments.empty()) return segments;
  const Pasts pasts = load_pasts(database,
                                 "SELECT tick_id, segment_id, rss_kib + swap_kib FROM sysv_sample WHERE tick_id <= ? "
                                 "ORDER BY tick_id, segment_id",
                                 tick_id, 0);
  Times times(database);
  for (std::size_t i = 0; i < ids.size(); ++i) segments[i].past = times.before(pasts.at(ids[i]));
  return segments;
}

std::vector<TmpfsAt> read_tmpfs(SQLite::Database& database, std::int64_t tick_id, std::int64_t since_tick) {
  auto [by_id, mounts] = read_mounts(database, tick_id);
  if (mounts.empty()) return mounts;
  const Pasts pasts = load_pasts(database,
                                 "SELECT tick_id, entry_id, allocated_kib FROM tmpfs_entry_sample WHERE tick_id <= ? "
                                 "ORDER BY tick_id, entry_id",
                                 tick_id, since_tick);
  Times times(database);
  Statement entries(database, sql::snapshot_tmpfs_entries);
  entries.bind(keyframe_of(database, tick_id), tick_id);
  while (entries.step()) {
    const auto mount = by_id.find(entries.integer(1));
    if (mount == by_id.end()) continue;
    mounts[mount->second].entries.push_back({read_entry(entries), times.before(pasts.at(entries.integer(0)))});
  }
  return mounts;
}

}  // namespace

Result<ShmemState> load_shmem_state(Reader& reader, std::int64_t tick_id) {
  return reader.read([&](SQLite::Database& database) { return read_shmem_state(database, tick_id); });
}

Result<std::vector<SegmentAt>> load_segments(Reader& reader, std::int64_t tick_id) {
  return reader.read([&](SQLite::Database& database) { return read_segments_with_past(database, tick_id); });
}

Result<std::vector<TmpfsAt>> load_tmpfs(Reader& reader, std::int64_t tick_id, std::int64_t since_tick) {
  return reader.read([&](SQLite::Database& database) { return read_tmpfs(database, tick_id, since_tick); });
}

}  // namespace memoir
