#pragma once

// Whose the swap of shared mappings is: SwapPss leaves it out. Each region that maps an object counts as one share of
// it, over all processes. Pure.

#include <cstdint>
#include <span>
#include <vector>

#include "model/mapping.h"

namespace memoir {

struct SharedSwap {
  ProcessKey process;
  double kib = 0;
  // Swap of shared mappings that the ledger sums without a label: how many share it is not known.
  std::int64_t unknown_kib = 0;

  bool operator==(const SharedSwap&) const = default;
};

// In the order of `ledgers`. It takes the ledgers of all processes: a sharer that is left out makes the others' larger.
std::vector<SharedSwap> share_swap(std::span<const ProcessLedger> ledgers);

}  // namespace memoir
