#pragma once

// What an earlier run of the recorder in this boot knew, so that its processes go on with the same identity.

#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "model/tick.h"

namespace memoir {

class Seeds {
 public:
  void add(const std::vector<KnownProcess>& known);
  void clear() { seeds_.clear(); }

  // The exec count of a process seen for the first time, its start in `info.key`: that which the earlier run left off
  // at, one more if it runs another program since, else 0.
  std::uint32_t exec_count(const ProcessInfo& info) const;

 private:
  std::map<std::pair<std::int32_t, std::uint64_t>, KnownProcess> seeds_;
};

// The path of an executable, without the mark that the kernel appends when the file is gone (replaced by an upgrade).
std::string_view without_deleted(std::string_view exe);

}  // namespace memoir
