#pragma once

// Stores the values that scans and exits observed beyond those of a tick and the one before, and raises marks by them.

#include <cstdint>
#include <vector>

#include "store/rows/process_rows.h"
#include "store/rows/sample_rows.h"
#include "store/write/writer_state.h"

namespace memoir {

class ExtremeStore {
 public:
  // Before the processes of the tick: the state is that of the tick before.
  void store(const TickExtremes& extremes, SampleRows& samples, const TickContext& context, WriterState& state);
  // Those of cgroups, after the cgroups of the tick.
  static void store_cgroups(const TickExtremes& extremes, SampleRows& samples, ProcessRows& names,
                            const TickContext& context, WriterState& state);
  // Unsampled processes, after the processes of the tick. They have rows by then, and no other values.
  void store_strangers(std::int64_t boot_id, SampleRows& samples, ProcessRows& processes, const TickContext& context,
                       WriterState& state);

 private:
  std::vector<ProcessExtremes> strangers_;  // of the tick that is being stored
};

}  // namespace memoir
