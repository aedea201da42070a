#pragma once

// Divides swapped shared memory, which SwapPss omits, among its mappers. Each region that maps an object counts as one
// share, over all processes. Pure.

#include <cstdint>
#include <span>
#include <vector>

#include "model/mapping.h"

namespace memoir {

struct SharedSwap {
  ProcessKey process;
  double kib = 0;
  // Swap of shared mappings without a label in the summary, so that the number of sharers is unknown.
  std::int64_t unknown_kib = 0;

  bool operator==(const SharedSwap&) const = default;
};

// Returns results in the order of `summaries`, which must be those of all processes: a missing sharer makes the others'
// shares larger.
std::vector<SharedSwap> share_swap(std::span<const ProcessMappings> summaries);

}  // namespace memoir
