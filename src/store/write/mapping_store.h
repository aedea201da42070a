#pragma once

// Stores the mapping summaries of a tick in the open transaction: the changes of each summary that was read, and at a
// keyframe all valid summaries.

#include <cstdint>
#include <vector>

#include "model/mapping.h"
#include "store/rows/mapping_rows.h"
#include "store/write/writer_state.h"

namespace memoir {

class MappingStore {
 public:
  explicit MappingStore(SQLite::Database& database) : rows_(database) {}

  // Call it after the processes of the tick are stored. Ends the summaries of missing processes.
  void store(const std::vector<ProcessMappings>& summaries, const TickContext& context, WriterState& state);

 private:
  void end_gone(const TickContext& context, WriterState& state);
  void take(const ProcessMappings& summary, const LiveProcess& process, const TickContext& context, WriterState& state);
  void store_read(const ProcessMappings& summary, LiveMappings& live, const TickContext& context,
                  std::int64_t keyframe_id);
  void store_again(const TickContext& context, const WriterState& state);

  MappingRows rows_;
};

}  // namespace memoir
