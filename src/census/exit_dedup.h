#pragma once

// Drops duplicate exit events, which kernels before 6.16 emit when two threads exit at once. Such a kernel reports a
// thread's exit after counting it, so both threads look like the last of their process. Pure.

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "census/events.h"

namespace memoir {

class ExitDedup {
 public:
  // Removes the second exit of a process if the first is in this call or the previous one: they are moments apart.
  void keep_first(std::vector<ProcessEvent>& events);

 private:
  using Exited = std::pair<std::int32_t, std::uint64_t>;  // pid, start in ticks
  std::set<Exited> before_;
};

}  // namespace memoir
