#pragma once

// State shared by the parts of the collector during one tick.

#include <cstdint>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "collect/pss/mapper_changes.h"
#include "collect/worker/blocked_users.h"
#include "model/tick.h"

namespace memoir {

struct CollectContext {
  Tick& tick;
  Buffer& buffer;
  std::string blocked = {};     // first blocked read that does not belong to a process
  std::int64_t in_turn_us = 0;  // CPU time of rotating reads, without rollups and smaps (pss/read_request.h)
  BlockedUsers::Counts blocked_users = {};  // number of blocked reads of processes, by uid
  std::vector<ObservedMapper> exited = {};  // mappings of the processes that exited since the previous tick

  // Notes a text that could not be parsed. Ignores errors of other kinds.
  void note_malformed(const Error& error);
  // Counts the noted texts in the tick. Returns the first one for the log; empty if there was none.
  std::string count_malformed();
  void note_blocked(std::uint32_t uid, std::int64_t processes = 1);
  void note_blocked(const std::string& what);
};

}  // namespace memoir
