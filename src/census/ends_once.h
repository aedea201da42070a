#pragma once

// Before Linux 6.16 the kernel tells of the end of a thread after it has counted that, so that two threads which end at
// once both look like the last of their process, which ends twice. Pure.

#include <compare>
#include <cstdint>
#include <set>
#include <vector>

#include "census/events.h"

namespace memoir {

class EndsOnce {
 public:
  // Takes the second end of a process out, of those of this call and of the one before: they are moments apart.
  void keep_first(std::vector<ProcessEvent>& events);

 private:
  struct Ended {
    std::int32_t pid;
    std::uint64_t start_ticks;
    auto operator<=>(const Ended&) const = default;
  };
  std::set<Ended> before_;
};

}  // namespace memoir
