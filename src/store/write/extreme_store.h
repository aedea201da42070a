#pragma once

// Stores values between two ticks that are beyond the values of both, as found by scans, exits and VmHWM. Raises marks
// by these values.

#include <cstdint>
#include <vector>

#include "store/rows/process_rows.h"
#include "store/rows/sample_rows.h"
#include "store/write/writer_state.h"

namespace memoir {

class ExtremeStore {
 public:
  // Call before the processes of the tick are stored: the state is that of the previous tick.
  void store(const TickExtremes& extremes, SampleRows& samples, const TickContext& context, WriterState& state);
  // Stores the VmHWM of the tick, if it rose beyond the RSS of both ticks. `last` is nullptr for a new process.
  static void store_peak(std::int64_t id, const ProcessMemory& now, const ProcessMemory* last, MarkTime time,
                         SampleRows& samples, const TickContext& context);
  // Stores the extremes of cgroups. Call after the cgroups of the tick are stored.
  static void store_cgroups(const TickExtremes& extremes, SampleRows& samples, ProcessRows& names,
                            const TickContext& context, WriterState& state);
  // Stores the extremes of unsampled processes. Call after the processes of the tick are stored: these processes then
  // have rows, but no other values.
  void store_unsampled(std::int64_t boot_id, SampleRows& samples, ProcessRows& processes, const TickContext& context,
                       WriterState& state);

 private:
  std::vector<ProcessExtremes> strangers_;  // extremes of unsampled processes in the tick that is being stored
};

}  // namespace memoir
