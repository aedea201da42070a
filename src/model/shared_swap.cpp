#include "model/shared_swap.h"

#include <functional>
#include <unordered_map>

#include "base/each_of.h"

namespace memoir {
namespace {

// How often each object is mapped.
using Counts = std::unordered_map<MappingNameView, std::int64_t, MappingNameHash, std::equal_to<>>;

Counts count_regions(std::span<const ProcessLedger> ledgers) {
  Counts counts;
  for (const ProcessLedger& process : ledgers) {
    for (const auto& [name, use] : process.ledger.rows) {
      if (use.shared_regions > 0) counts[{name.kind, name.label}] += use.shared_regions;
    }
  }
  return counts;
}

SharedSwap share_of(const ProcessLedger& process, const Counts& counts) {
  SharedSwap share{.process = process.process};
  for (const auto& [name, use] : process.ledger.rows) {
    if (use.shared_swap_kib == 0) continue;
    const std::int64_t count = counts.at({name.kind, name.label});
    share.kib += static_cast<double>(use.shared_swap_kib) / static_cast<double>(count);
  }
  for (const MappingUse& others : process.ledger.others) share.unknown_kib += others.shared_swap_kib;
  return share;
}

}  // namespace

std::vector<SharedSwap> share_swap(std::span<const ProcessLedger> ledgers) {
  const Counts counts = count_regions(ledgers);
  return each_of(ledgers, [&](const ProcessLedger& process) { return share_of(process, counts); });
}

}  // namespace memoir
