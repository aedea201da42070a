#pragma once

// Which processes were followed by another of the same identity: a service that was restarted, or died and was started
// again. Pure.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace memoir {

struct Life {
  std::string_view identity;
  std::int64_t begin_ms = 0;
  std::int64_t last_ms = 0;             // seen last
  std::optional<std::int64_t> gone_ms;  // first seen to be gone; absent while it lives
};

struct Restart {
  std::size_t ended = 0;  // places among the lives
  std::size_t begun = 0;
};

struct RestartRule {
  std::int64_t least_life_ms = 10 * 60 * 1000;     // shorter ones are jobs, that come and go
  std::int64_t longest_pause_ms = 10 * 60 * 1000;  // from the end to the begin of the next
};

// Each life is followed by at most one, and follows at most one: the earliest that began after it was seen last. In the
// order of the ends.
std::vector<Restart> find_restarts(std::span<const Life> lives, const RestartRule& rule = {});

}  // namespace memoir
