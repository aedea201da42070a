#pragma once

// Snapshots for steps from tick to tick: the next tick costs only its own rows, and the previous ones are loaded
// together. Recently used snapshots are kept, up to a total size. Every snapshot equals the result of load_snapshot().

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>

#include "store/replay/snapshot_replay.h"

namespace memoir {

class SnapshotCache {
 public:
  // Needs an open transaction.
  SnapshotCache(SQLite::Database& database, std::size_t max_bytes);

  // Returns the snapshot; nullopt if the tick is not recorded.
  std::optional<Snapshot> load(std::int64_t tick_id);

  std::size_t bytes() const { return bytes_; }

 private:
  struct Kept {
    Snapshot snapshot;
    std::size_t bytes = 0;
  };

  const Snapshot* find(std::int64_t tick_id);
  void keep(const Snapshot& snapshot);
  bool replay_to(std::int64_t tick_id);
  bool replay_before(std::int64_t tick_id);

  SQLite::Database& database_;
  std::size_t max_bytes_;
  SnapshotReplay replay_;
  std::int64_t data_version_ = -1;  // version of the file that the kept snapshots are from
  std::int64_t last_id_ = 0;        // tick of the last call
  std::list<Kept> kept_;            // the last used snapshot first
  std::size_t bytes_ = 0;           // size of the kept snapshots
};

}  // namespace memoir
