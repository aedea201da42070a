#pragma once

// Finds processes with a PSS change caused by another process that mapped or released the same files and shared memory.
// Uses the mapping summaries. Pure.

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "model/mapping.h"

namespace memoir {

class CoMappers {
 public:
  // Smaller changes are not worth a reading.
  static constexpr std::int64_t kMinPssKib = 1024;

  // Call it after reading the mapping summary of a process. Returns the other mappers of objects of which it has a
  // large share, if it had no summary before.
  std::vector<ProcessKey> add(const ProcessKey& process, const MappingSummary& summary);

  // `alive` is sorted. Returns the other mappers of objects of which the exited processes had a large share.
  std::vector<ProcessKey> remove_exited(const std::vector<ProcessKey>& alive);

 private:
  struct Share {
    std::size_t object = 0;  // hash of its name
    std::int64_t pss_kib = 0;
  };

  std::vector<ProcessKey> others_of(const std::vector<Share>& shares, const ProcessKey* but = nullptr) const;

  std::map<ProcessKey, std::vector<Share>> shares_;
};

}  // namespace memoir
