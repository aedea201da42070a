#pragma once

// Reports users whose processes block reads of them: one event at the start, and one some time after the end. The delay
// keeps intermittent blocking from causing a flood of events. Pure.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "model/tick.h"

namespace memoir {

class BlockedUsers {
 public:
  static constexpr std::int64_t kOverAfterMs = 600'000;
  static constexpr std::size_t kMaxAtOnce = 8;  // further users are not reported

  // Number of processes, by uid, that were not read in a tick because a read was slow or stuck. `name` returns the name
  // of a uid.
  using Counts = std::map<std::uint32_t, std::int64_t>;
  std::vector<Event> see(const Counts& blocked, const Moment& now,
                         const std::function<std::string(std::uint32_t)>& name);

 private:
  std::map<std::uint32_t, std::int64_t> last_ms_;  // boot clock, last blocked read of each reported user, by uid
};

}  // namespace memoir
