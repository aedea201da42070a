#pragma once

// The state of an earlier run of the recorder in this boot, so that processes keep their identity across a restart.

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "model/tick.h"

namespace memoir {

class Seeds {
 public:
  void add(const std::vector<KnownProcess>& known);
  void clear() { seeds_.clear(); }

  // Returns the exec count of a new process whose start is in `info.key`: the last count of the earlier run, plus one
  // if the process now runs another program. Returns 0 if the earlier run did not have it.
  std::uint32_t exec_count(const ProcessInfo& info) const;

 private:
  std::map<std::pair<std::int32_t, std::uint64_t>, KnownProcess> seeds_;
};

}  // namespace memoir
