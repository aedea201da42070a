#include "store/rows/tmpfs_rows.h"

#include <optional>

namespace memoir {
namespace {

constexpr int kGone = 3;

}  // namespace

TmpfsRows::TmpfsRows(SQLite::Database& database)
    : mounts_(database, "SELECT id FROM tmpfs WHERE mount_point = ?", "INSERT INTO tmpfs (mount_point) VALUES (?)"),
      entries_(database, "SELECT id FROM tmpfs_entry WHERE tmpfs_id = ? AND path = ? AND directory = ?",
               "INSERT INTO tmpfs_entry (tmpfs_id, path, directory) VALUES (?, ?, ?)"),
      sample_(database,
              "INSERT INTO tmpfs_sample (tick_id, tmpfs_id, state, limit_kib, used_kib, inodes, walked_ms, entries, "
              "directories, symlinks, others, closed, allocated_kib, logical_kib) "
              "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
      gone_(database, "INSERT INTO tmpfs_sample (tick_id, tmpfs_id, state) VALUES (?, ?, ?)"),
      entry_sample_(database,
                    "INSERT INTO tmpfs_entry_sample (tick_id, entry_id, allocated_kib, logical_kib, entries, uid, "
                    "changed_ms) VALUES (?, ?, ?, ?, ?, ?, ?)"),
      gone_entry_(database, "INSERT INTO tmpfs_entry_sample (tick_id, entry_id) VALUES (?, ?)") {}

std::int64_t TmpfsRows::entry_id(std::int64_t tmpfs_id, const TmpfsEntry& entry) {
  return entries_.id(tmpfs_id, entry.path, entry.directory ? 1 : 0);
}

void TmpfsRows::insert(std::int64_t tick_id, std::int64_t tmpfs_id, const TmpfsSample& sample) {
  // What no walk found is not known.
  const auto found = [&sample](std::int64_t value) { return sample.walked_ms ? std::optional(value) : std::nullopt; };
  const TmpfsContent& content = sample.content;
  sample_.run(tick_id, tmpfs_id, static_cast<int>(sample.walk), sample.limit_kib, sample.used_kib, sample.inodes,
              sample.walked_ms, found(content.entries), found(content.directories), found(content.symlinks),
              found(content.others), found(content.closed), found(content.allocated_kib), found(content.logical_kib));
}

void TmpfsRows::insert_gone(std::int64_t tick_id, std::int64_t tmpfs_id) {
  gone_.run(tick_id, tmpfs_id, kGone);
}

void TmpfsRows::insert_entry(std::int64_t tick_id, std::int64_t entry_id, const TmpfsEntry& entry) {
  entry_sample_.run(tick_id, entry_id, entry.allocated_kib, entry.logical_kib, entry.entries, entry.uid,
                    entry.changed_ms);
}

}  // namespace memoir
