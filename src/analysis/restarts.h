#pragma once

// Finds processes that were followed by another one of the same identity: a service that was restarted, or crashed and
// was started again. Pure.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "model/exit.h"

namespace memoir {

struct Life {
  std::string_view identity;
  std::int64_t begin_ms = 0;
  std::int64_t last_ms = 0;               // last observed
  std::optional<std::int64_t> exited_ms;  // first tick without it; nullopt while it runs
};

struct Restart {
  std::size_t ended = 0;  // indexes into the lives
  std::size_t begun = 0;
};

struct RestartRule {
  std::int64_t min_life_ms = kShortLifeMs;
  std::int64_t longest_pause_ms = 10 * 60 * 1000;  // from the exit to the next start
};

// Each life is followed by at most one other and follows at most one: the earliest that started after it was last
// observed. In exit order.
std::vector<Restart> find_restarts(std::span<const Life> lives, const RestartRule& rule = {});

}  // namespace memoir
