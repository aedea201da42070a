#pragma once

// Finds the shares of the swap of shared mappings (model/shared_swap.h), for which the smaps of all processes that have
// any is needed: one after the other, over many ticks. Once all are read, their shares hold until the next sweep has
// come to its end. Pure.

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
  static constexpr std::size_t kMostBytes = 4U
                                            << 20U;  // that the names of a sweep take up: what is beyond has no share

  // A tick: `sharers` have swap of shared mappings, sorted; no others have a share any more. A sweep begins if the last
  // one began an interval ago.
  void meet(const std::vector<ProcessKey>& sharers, std::int64_t boot_ms, std::int64_t interval_ms);

  // Who is to be read still.
  const std::set<ProcessKey>& left() const { return left_; }
  // When the sweep began.
  std::int64_t began_ms() const { return began_ms_.value_or(0); }
  // What it maps shared; nothing where that could not be read.
  void take(const ProcessKey& key, std::optional<MappingLedger> shared);

  // KiB; absent: not known.
  std::optional<std::int64_t> share_of(const ProcessKey& key) const;

 private:
  void finish();

  std::set<ProcessKey> left_;
  std::vector<ProcessLedger> read_;
  std::size_t bytes_ = 0;
  std::map<ProcessKey, std::int64_t> shares_;
  std::optional<std::int64_t> began_ms_;
};

}  // namespace memoir
