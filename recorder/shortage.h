#pragma once

// Detects a shortage of memory from values that scans and ticks read anyway. Pure.

#include <cstdint>
#include <deque>
#include <optional>

#include "model/machine.h"

namespace memoir {

// Tracks MemAvailable over time. Memory is short if two conditions hold. MemAvailable is much lower than at any time
// from twenty to five seconds before. At this speed, it would be exhausted within a minute, or within three minutes if
// less than a tenth of the machine is left. In harmless cases MemAvailable has been as low before: on a machine that
// always has little, with programs that allocate and free in turn, and with a growing page cache (which counts as
// available).
class Shortage {
 public:
  // Returns the time left at this speed, in ms; nullopt if memory is not short. `now_ms` is on the boot clock.
  std::optional<std::int64_t> see(std::int64_t now_ms, std::int64_t available_kib, std::int64_t total_kib);

 private:
  struct Low {
    std::int64_t at_ms;
    std::int64_t kib;
  };
  std::deque<Low> lows_;  // lowest value of each second with an observation
};

// Returns whether processes waited for memory between two ticks, for a machine without a PSI trigger. Compares the
// share of time in which some process waited, as the trigger does (kStallUs of kStallWindowUs). If the kernel does not
// count that, compares the allocations that had to reclaim memory themselves and the pages swapped in.
bool stalls(const MachineMemory& before, const MachineMemory& now, std::int64_t elapsed_ms);

// Minimum stall that is worth a burst: 150 ms of 2 s. systemd.resource-control(5) uses 200 ms for the point at which
// programs should release memory; such waits are noticeable. The kernel only allows windows of 2 s and multiples
// without CAP_SYS_RESOURCE.
inline constexpr std::int64_t kStallUs = 150'000;
inline constexpr std::int64_t kStallWindowUs = 2'000'000;

}  // namespace memoir
