#pragma once

// Whether a machine runs short of memory, from what looks and ticks read of it anyway. Pure.

#include <cstdint>
#include <deque>
#include <optional>

#include "model/machine.h"

namespace memoir {

// MemAvailable as it was seen one time after the other. It falls short where it is lower by much than it was at any
// time from twenty to five seconds before, and at this speed used up within a minute; where less than a tenth of the
// machine is left, within three. A machine that always has little, one whose programs take and give back in turn, and
// a page cache that fills (which MemAvailable holds for available) have been as low before.
class Shortage {
 public:
  // What is left at this speed, in ms, where that is too little; at `now_ms` of the boot clock.
  std::optional<std::int64_t> see(std::int64_t now_ms, std::int64_t available_kib, std::int64_t total_kib);

 private:
  struct Low {
    std::int64_t at_ms;
    std::int64_t kib;
  };
  std::deque<Low> lows_;  // of each second that something was seen in
};

// Of a machine on which PSI wakes nobody: the same from the counters of two ticks. A share of the time in which some
// process waited for memory, as the trigger has it (kStallUs of kStallWindowUs); where the kernel does not count that,
// allocations that had to reclaim memory themselves, and swapping in.
bool stalls(const MachineMemory& before, const MachineMemory& now, std::int64_t elapsed_ms);

// The least that is a stall worth a closer look: 150 ms of 2 s. systemd.resource-control(5) takes 200 ms for the time
// at which programs should give memory back; programs that wait that long are felt. Windows of 2 s and their multiples
// are all that the kernel gives without CAP_SYS_RESOURCE.
inline constexpr std::int64_t kStallUs = 150'000;
inline constexpr std::int64_t kStallWindowUs = 2'000'000;

}  // namespace memoir
