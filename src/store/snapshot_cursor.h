#pragma once

// The state at one tick, which steps to the next or the previous tick. The next tick costs its own rows; a jump and the
// previous tick cost those since their keyframe.

#include <cstdint>
#include <memory>

#include "base/result.h"
#include "store/reader.h"

namespace memoir {

// The reader outlives it. No statement stays open between steps.
class SnapshotCursor {
 public:
  explicit SnapshotCursor(Reader& reader);
  ~SnapshotCursor();
  SnapshotCursor(const SnapshotCursor&) = delete;
  SnapshotCursor& operator=(const SnapshotCursor&) = delete;

  // False: the tick is not recorded, and the state stays as it is.
  Result<bool> go_to(std::int64_t tick_id);
  Result<bool> next();
  Result<bool> previous();

  // Valid until the next step. Empty before the first.
  const Snapshot& snapshot() const;

 private:
  class Steps;

  Reader& reader_;
  std::unique_ptr<Steps> steps_;
};

}  // namespace memoir
