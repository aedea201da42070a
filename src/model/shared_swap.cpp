#include "model/shared_swap.h"

#include <functional>
#include <unordered_map>

#include "base/transformed.h"

namespace memoir {
namespace {

// Number of mappings per object.
using Counts = std::unordered_map<MappingNameView, std::int64_t, MappingNameHash, std::equal_to<>>;

Counts count_regions(std::span<const ProcessMappings> summaries) {
  Counts counts;
  for (const ProcessMappings& process : summaries) {
    for (const auto& [name, use] : process.summary.rows) {
      if (use.shared_regions > 0) counts[{name.kind, name.label}] += use.shared_regions;
    }
  }
  return counts;
}

SharedSwap share_of(const ProcessMappings& process, const Counts& counts) {
  SharedSwap share{.process = process.process};
  for (const auto& [name, use] : process.summary.rows) {
    if (use.shared_swap_kib == 0) continue;
    const std::int64_t count = counts.at({name.kind, name.label});
    share.kib += static_cast<double>(use.shared_swap_kib) / static_cast<double>(count);
  }
  for (const MappingUse& others : process.summary.others) share.unknown_kib += others.shared_swap_kib;
  return share;
}

}  // namespace

std::vector<SharedSwap> share_swap(std::span<const ProcessMappings> summaries) {
  const Counts counts = count_regions(summaries);
  return transformed(summaries, [&](const ProcessMappings& process) { return share_of(process, counts); });
}

}  // namespace memoir
