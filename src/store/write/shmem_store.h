#pragma once

// Stores memory outside of processes in the open transaction: System V segments, tmpfs mounts and their entries. Values
// that a tick did not read stay valid; a keyframe stores all of them again.

#include <cstdint>
#include <vector>

#include "model/tick.h"
#include "store/rows/names.h"
#include "store/write/writer_state.h"

namespace memoir {

class ShmemStore {
 public:
  explicit ShmemStore(SQLite::Database& database);

  void store(const Tick& tick, std::int64_t boot_id, const TickContext& context, WriterState& state);

 private:
  void store_segments(const std::optional<std::vector<SysvSegment>>& segments, std::int64_t boot_id,
                      const TickContext& context, StoredShmem& stored);
  void store_tmpfs(const std::optional<std::vector<TmpfsSample>>& mounts, const TickContext& context,
                   StoredShmem& stored);
  void insert_mount(std::int64_t tick_id, std::int64_t id, const TmpfsSample& sample);
  std::int64_t segment_id(std::int64_t boot_id, const SysvSegment& segment, std::int64_t at_ms);

  Statement find_segment_;
  Statement insert_segment_;
  Statement segment_sample_;
  Statement gone_segment_;
  Names mounts_;
  Names entries_;
  Statement mount_sample_;
  Statement gone_mount_;
  Statement entry_sample_;
  Statement gone_entry_;
};

}  // namespace memoir
