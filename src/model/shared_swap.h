#pragma once

// Divides swapped shared memory, which SwapPss omits, among its mappers. An object's swap is divided by the number of
// regions that map it in all processes; a process gets one share for each of its regions. Pure.

#include <cstdint>
#include <span>
#include <vector>

#include "model/mapping.h"

namespace memoir {

struct SharedSwap {
  ProcessKey process;
  double kib = 0;
  // Swap of shared mappings that the summary does not list by label. Their number of sharers is unknown.
  std::int64_t unknown_kib = 0;

  bool operator==(const SharedSwap&) const = default;
};

// Returns results in the order of `summaries`, which must include all processes. A missing sharer would increase the
// shares of all others.
std::vector<SharedSwap> share_swap(std::span<const ProcessMappings> summaries);

}  // namespace memoir
