#pragma once

// What the parts of the collector share during one tick.

#include <cstdint>
#include <string>

#include "base/file.h"
#include "base/result.h"
#include "collect/worker/blocked_users.h"
#include "model/tick.h"

namespace memoir {

struct Pass {
  Tick& tick;
  Buffer& buffer;
  std::string malformed = {};               // the first thing that could not be understood, for the log
  std::string blocked = {};                 // the first read of something else than a process that did not come back
  std::int64_t in_turn_us = 0;              // of CPU, by what was read in turn beside rollups and smaps (pss/claim.h)
  BlockedUsers::Counts blocked_users = {};  // the others, by uid

  void note_malformed(const Error& error);
  void note_malformed(std::int32_t pid, const Error& error);
  void note_blocked(std::uint32_t uid);
  void note_blocked(const std::string& what);
};

}  // namespace memoir
