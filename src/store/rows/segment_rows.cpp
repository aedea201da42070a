#include "store/rows/segment_rows.h"

namespace memoir {

SegmentRows::SegmentRows(SQLite::Database& database)
    : find_(database, "SELECT id FROM sysv_segment WHERE boot_id = ? AND shmid = ? AND creator_pid = ?"),
      insert_(database,
              "INSERT INTO sysv_segment (boot_id, shmid, creator_pid, key, creator_uid, size_kib, first_ms) "
              "VALUES (?, ?, ?, ?, ?, ?, ?)"),
      sample_(database,
              "INSERT INTO sysv_sample (tick_id, segment_id, attachments, uid, last_pid, removed, rss_kib, swap_kib, "
              "detached_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"),
      gone_(database, "INSERT INTO sysv_sample (tick_id, segment_id) VALUES (?, ?)") {}

std::int64_t SegmentRows::id(std::int64_t boot_id, const SysvSegment& segment, std::int64_t at_ms) {
  const auto found = find_.one(boot_id, segment.shmid, segment.creator_pid);
  if (found) return *found;
  return insert_.insert(boot_id, segment.shmid, segment.creator_pid, segment.key, segment.creator_uid, segment.size_kib,
                        at_ms);
}

void SegmentRows::insert(std::int64_t tick_id, std::int64_t segment_id, const SysvSegment& segment) {
  sample_.run(tick_id, segment_id, segment.attachments, segment.uid, segment.last_pid, segment.removed ? 1 : 0,
              segment.rss_kib, segment.swap_kib, segment.detached_ms);
}

}  // namespace memoir
