#pragma once

// /proc/sysvipc/shm: a header with the columns' names, then one line per System V shared memory segment. rss and swap
// (bytes; since Linux 2.6.34) are what it holds whether or not a process is attached to it.
//
//          key      shmid perms       size  cpid  lpid nattch … rss   swap
//   1627455491          0   600   56033280  1412  1412      6 … 49152    0

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/segment.h"

namespace memoir {

struct SysvTable {
  std::int64_t held_kib = 0;          // rss and swap of all; 0 without any
  std::vector<SysvSegment> segments;  // sorted by shmid; none where the table lacks a column that tells them apart
  std::int64_t malformed = 0;         // rows that were passed over,
  std::optional<Error> first_malformed = {};
};

// Without its columns rss and swap it is an error.
Result<SysvTable> parse_sysvipc_shm(std::string_view text);

}  // namespace memoir
