#pragma once

// Before Linux 6.16 the kernel tells of the end of a thread after it has counted that, so that two threads which end at
// once both look like the last of their process, which ends twice. Pure.

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "census/events.h"

namespace memoir {

class EndsOnce {
 public:
  // Takes the second end of a process out, of those of this call and of the one before: they are moments apart.
  void keep_first(std::vector<ProcessEvent>& events);

 private:
  using Ended = std::pair<std::int32_t, std::uint64_t>;  // pid, start in ticks
  std::set<Ended> before_;
};

}  // namespace memoir
