#pragma once

// The state of an earlier run of the recorder in this boot, so that its processes continue with the same identity.

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

  // Returns the exec count of a new process, with its start in `info.key`: the last count of the earlier run, plus one
  // if it runs another program since; otherwise 0.
  std::uint32_t exec_count(const ProcessInfo& info) const;

 private:
  std::map<std::pair<std::int32_t, std::uint64_t>, KnownProcess> seeds_;
};

}  // namespace memoir
