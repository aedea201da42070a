#pragma once

// Tells whose processes hold up their reads: an event when it begins, and one when it has been over for a while, so
// that reads that come and go make no storm of them. Pure.

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
  static constexpr std::size_t kMostAtOnce = 8;  // further users are not told of

  // The processes of each uid that were not read in a tick because a read was slow or stuck; `name`: of a uid.
  using Counts = std::map<std::uint32_t, std::int64_t>;
  std::vector<Event> see(const Counts& blocked, const Moment& now,
                         const std::function<std::string(std::uint32_t)>& name);

 private:
  std::map<std::uint32_t, std::int64_t> last_ms_;  // on the boot clock, of those who were told of
};

}  // namespace memoir
