#include "store/snapshot_cursor.h"

#include <optional>

#include "store/replay/snapshot_replay.h"

namespace memoir {

// Made in the first transaction.
class SnapshotCursor::Steps {
 public:
  SnapshotReplay& in(SQLite::Database& database) { return replay_ ? *replay_ : replay_.emplace(database); }
  const Snapshot& snapshot() const { return replay_ ? replay_->snapshot() : none_; }

 private:
  std::optional<SnapshotReplay> replay_;
  Snapshot none_;
};

SnapshotCursor::SnapshotCursor(Reader& reader) : reader_(reader), steps_(std::make_unique<Steps>()) {}

SnapshotCursor::~SnapshotCursor() = default;

Result<bool> SnapshotCursor::go_to(std::int64_t tick_id) {
  return reader_.read([&](SQLite::Database& database) { return steps_->in(database).load(tick_id); });
}

Result<bool> SnapshotCursor::next() {
  return reader_.read([&](SQLite::Database& database) { return steps_->in(database).next(); });
}

Result<bool> SnapshotCursor::previous() {
  return go_to(snapshot().tick.id - 1);
}

const Snapshot& SnapshotCursor::snapshot() const {
  return steps_->snapshot();
}

}  // namespace memoir
