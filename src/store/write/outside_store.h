#pragma once

// Puts what holds memory outside of processes into the open transaction: System V segments, tmpfs mounts and what lies
// in them. What a tick does not tell holds on; at a keyframe all is stored.

#include <cstdint>
#include <vector>

#include "model/tick.h"
#include "store/rows/segment_rows.h"
#include "store/rows/tmpfs_rows.h"
#include "store/write/writer_state.h"

namespace memoir {

class OutsideStore {
 public:
  explicit OutsideStore(SQLite::Database& database) : segments_(database), tmpfs_(database) {}

  void store(const Tick& tick, std::int64_t boot_id, const TickContext& context, WriterState& state);

 private:
  void store_segments(const std::optional<std::vector<SysvSegment>>& segments, std::int64_t boot_id,
                      const TickContext& context, StoredOutside& stored);
  void store_tmpfs(const std::optional<std::vector<TmpfsSample>>& mounts, const TickContext& context,
                   StoredOutside& stored);

  SegmentRows segments_;
  TmpfsRows tmpfs_;
};

}  // namespace memoir
