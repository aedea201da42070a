#pragma once

// Finds the shares of the swap of shared mappings (model/shared_swap.h). They need the smaps of all processes with such
// swap, which are read one after the other over many ticks. After all are read, the shares hold until the next sweep is
// complete. Pure.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "model/mapping.h"

namespace memoir {

class SwapSweep {
 public:
  static constexpr std::size_t kMaxBytes = 4U
                                           << 20U;  // memory for the names of a sweep; objects beyond it get no share

  // Updates at a tick: `sharers`, sorted, are the processes with swap of shared mappings; others lose their share. All
  // are read again if the last sweep started an interval ago, otherwise only new ones.
  void meet(const std::vector<ProcessKey>& sharers, std::int64_t boot_ms, std::int64_t interval_ms);

  // Processes that are still unread.
  const std::set<ProcessKey>& left() const { return left_; }
  // Start of the sweep.
  std::int64_t began_ms() const { return began_ms_.value_or(0); }
  // Its shared mappings; nullopt if they could not be read.
  void take(const ProcessKey& key, std::optional<MappingSummary> shared);

  // In KiB; nullopt if unknown.
  std::optional<std::int64_t> share_of(const ProcessKey& key) const;

 private:
  void finish();

  std::set<ProcessKey> met_;   // since the last complete sweep
  std::set<ProcessKey> left_;  // unread ones among them
  std::vector<ProcessMappings> read_;
  std::size_t bytes_ = 0;
  std::map<ProcessKey, std::int64_t> shares_;
  std::optional<std::int64_t> began_ms_;
};

}  // namespace memoir
