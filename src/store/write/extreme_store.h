#pragma once

// What looks and ends saw beyond a tick and the one before, in the store: rows, and the marks that it raises.

#include <cstdint>
#include <vector>

#include "store/marks/mark_rows.h"
#include "store/rows/process_rows.h"
#include "store/rows/sample_rows.h"
#include "store/write/writer_state.h"

namespace memoir {

class ExtremeStore {
 public:
  // Before the processes of the tick: whom the tick before had.
  void store(const TickExtremes& extremes, SampleRows& samples, const TickContext& context, WriterState& state);
  // Raises the marks by what was seen on that day.
  static void mark(const TickExtremes& extremes, std::int64_t day_ms, const TickContext& context, WriterState& state);
  // Those of cgroups, after the cgroups of the tick.
  static void store_cgroups(const TickExtremes& extremes, SampleRows& samples, ProcessRows& names,
                            const TickContext& context, WriterState& state);
  // After the processes: whom no tick saw. They have rows by then, and no other values.
  void store_strangers(std::int64_t boot_id, SampleRows& samples, ProcessRows& processes, MarkRows& marks,
                       const TickContext& context, WriterState& state);

 private:
  std::vector<ProcessExtremes> strangers_;  // of the tick that is being stored
};

}  // namespace memoir
