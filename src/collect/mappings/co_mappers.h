#pragma once

// Finds processes whose PSS changed because another process mapped or released the same files or shared memory. Uses
// the mapping summaries. Pure.

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "model/mapping.h"

namespace memoir {

class CoMappers {
 public:
  // Share of an object (PSS) below which a change is not worth a read.
  static constexpr std::int64_t kMinPssKib = 1024;

  // Call it after reading the mapping summary of a process. If the process had no summary before, returns the other
  // processes that map the objects of which it has a large share.
  std::vector<ProcessKey> add(const ProcessKey& process, const MappingSummary& summary);

  // Returns the processes that map the objects of which an exited process had a large share. `alive` is sorted.
  std::vector<ProcessKey> remove_exited(const std::vector<ProcessKey>& alive);

 private:
  struct Share {
    std::size_t object = 0;  // hash of the object's name
    std::int64_t pss_kib = 0;
  };

  std::vector<ProcessKey> others_of(const std::vector<Share>& shares, const ProcessKey* but = nullptr) const;

  std::map<ProcessKey, std::vector<Share>> shares_;
};

}  // namespace memoir
