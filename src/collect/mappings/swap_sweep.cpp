#include "collect/mappings/swap_sweep.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/shared_swap.h"

namespace memoir {
namespace {

// Removes rows of private mappings, which do not matter here. Returns the bytes that the remaining names need.
std::size_t keep_shared(MappingSummary& summary) {
  std::erase_if(summary.rows, [](const MappingRow& row) { return row.use.shared_regions == 0; });
  std::size_t bytes = 0;
  for (const MappingRow& row : summary.rows) bytes += sizeof(row) + row.name.label.capacity();
  return bytes;
}

}  // namespace

void SwapSweep::meet(const std::vector<ProcessKey>& sharers, std::int64_t boot_ms, std::int64_t interval_ms) {
  const auto gone = [&](const ProcessKey& key) { return !std::ranges::binary_search(sharers, key); };
  std::erase_if(shares_, [&](const auto& share) { return gone(share.first); });
  std::erase_if(met_, gone);
  const std::size_t were_left = std::erase_if(left_, gone);
  const std::size_t were_read = std::erase_if(read_, [&](const ProcessMappings& of) { return gone(of.process); });
  if (left_.empty() && (were_left > 0 || were_read > 0)) finish();
  if (sharers.empty()) return;
  if (left_.empty() && (!began_ms_ || boot_ms - *began_ms_ >= interval_ms)) {
    met_.clear();
    read_.clear();
    bytes_ = 0;
    began_ms_ = boot_ms;
  }
  // New sharers are read during the sweep, because without them the shares of the others would be too large.
  for (const ProcessKey& key : sharers) {
    if (met_.insert(key).second) left_.insert(key);
  }
}

void SwapSweep::take(const ProcessKey& key, std::optional<MappingSummary> shared) {
  if (left_.erase(key) == 0) return;
  if (shared) {
    const std::size_t bytes = keep_shared(*shared);
    if (bytes_ + bytes > kMaxBytes) {  // too much memory: drop the names
      for (const MappingRow& row : shared->rows) shared->others[static_cast<std::size_t>(row.name.kind)].add(row.use);
      shared->rows.clear();
    }
    bytes_ += shared->rows.empty() ? 0 : bytes;
    read_.push_back({.process = key, .summary = *std::move(shared)});
  }
  if (left_.empty()) finish();
}

void SwapSweep::finish() {
  shares_.clear();
  for (const SharedSwap& share : share_swap(read_)) shares_[share.process] = std::llround(share.kib);
}

std::optional<std::int64_t> SwapSweep::share_of(const ProcessKey& key) const {
  const auto found = shares_.find(key);
  return found == shares_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace memoir
