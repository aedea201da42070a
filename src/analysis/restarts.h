#pragma once

// Finds processes that were followed by another process of the same identity: services that were restarted, or that
// crashed and were started again. Pure.

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
  std::size_t ended = 0;  // index of the life that ended
  std::size_t begun = 0;  // index of its successor
};

struct RestartRule {
  std::int64_t min_life_ms = kShortLifeMs;
  std::int64_t longest_pause_ms = 10 * 60 * 1000;  // maximum time from the exit to the next start
};

// Returns the restarts in order of the exits. Each life has at most one successor, and is the successor of at most one
// other life. The successor is the earliest free life that started after the first one was last observed.
std::vector<Restart> find_restarts(std::span<const Life> lives, const RestartRule& rule = {});

}  // namespace memoir
