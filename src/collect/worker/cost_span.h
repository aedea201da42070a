#pragma once

// Measures the cost of a piece of work of the calling thread.

#include <cstdint>

#include "base/clock.h"
#include "model/tick.h"

namespace memoir {

class CostSpan {
 public:
  // Adds the cost since construction, or since the last call.
  void add_to(Cost& cost) {
    const std::int64_t cpu = thread_cpu_us();
    const std::int64_t wall = steady_us();
    cost.cpu_us += cpu - cpu_us_;
    cost.wall_us += wall - wall_us_;
    cpu_us_ = cpu;
    wall_us_ = wall;
  }
  void add_to(TickCost& cost, CostKind kind) { add_to(cost[static_cast<std::size_t>(kind)]); }

 private:
  std::int64_t cpu_us_ = thread_cpu_us();
  std::int64_t wall_us_ = steady_us();
};

}  // namespace memoir
