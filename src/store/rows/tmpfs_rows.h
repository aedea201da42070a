#pragma once

// Inserts tmpfs mounts, what lies in them, and their samples.

#include <cstdint>
#include <string>

#include "model/tmpfs.h"
#include "store/rows/names.h"
#include "store/sqlite/statement.h"

namespace memoir {

class TmpfsRows {
 public:
  explicit TmpfsRows(SQLite::Database& database);

  // The row of the mount, or of the entry; a new one if there is none.
  std::int64_t id(const std::string& mount_point) { return mounts_.id(mount_point); }
  std::int64_t entry_id(std::int64_t tmpfs_id, const TmpfsEntry& entry);

  void insert(std::int64_t tick_id, std::int64_t tmpfs_id, const TmpfsSample& sample);
  void insert_gone(std::int64_t tick_id, std::int64_t tmpfs_id);
  void insert_entry(std::int64_t tick_id, std::int64_t entry_id, const TmpfsEntry& entry);
  void insert_gone_entry(std::int64_t tick_id, std::int64_t entry_id) { gone_entry_.run(tick_id, entry_id); }

 private:
  Names mounts_;
  Names entries_;
  Statement sample_;
  Statement gone_;
  Statement entry_sample_;
  Statement gone_entry_;
};

}  // namespace memoir
