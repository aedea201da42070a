#pragma once

// Finds each process's share of the swap of shared mappings (model/shared_swap.h). This needs the smaps of all
// processes with such swap, which are read one after the other over many ticks. When all have been read, the shares are
// valid until the next sweep is complete. Pure.

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
  // Maximum memory for the names of a sweep. Objects beyond it get no share.
  static constexpr std::size_t kMaxBytes = 4U << 20U;

  // Call it at each tick. `sharers`, sorted, are the processes with swap in shared mappings; others lose their share.
  // Starts a sweep of all sharers if the last sweep started an interval ago; otherwise adds only new sharers.
  void meet(const std::vector<ProcessKey>& sharers, std::int64_t boot_ms, std::int64_t interval_ms);

  // Returns the processes that are not read yet.
  const std::set<ProcessKey>& left() const { return left_; }
  // Returns the start of the current or last sweep; 0 if there was none.
  std::int64_t began_ms() const { return began_ms_.value_or(0); }
  // Takes the shared mappings of a process; nullopt if they could not be read.
  void take(const ProcessKey& key, std::optional<MappingSummary> shared);

  // Returns the share of a process, in KiB; nullopt if unknown.
  std::optional<std::int64_t> share_of(const ProcessKey& key) const;

 private:
  void finish();

  std::set<ProcessKey> met_;   // processes that the current sweep includes
  std::set<ProcessKey> left_;  // processes of the sweep that are not read yet
  std::vector<ProcessMappings> read_;
  std::size_t bytes_ = 0;
  std::map<ProcessKey, std::int64_t> shares_;
  std::optional<std::int64_t> began_ms_;
};

}  // namespace memoir
